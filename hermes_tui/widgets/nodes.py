"""The pane beside the tree: what one session of a family is, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence

from hermes_tui.domain.lineage import LineageNode
from hermes_tui.domain.links import link_to
from hermes_tui.domain.messages import Message, Recap
from hermes_tui.domain.names import plain_title
from hermes_tui.domain.recaps import RecapSettings, entry_of
from hermes_tui.domain.sessions import Conversation, Kind
from hermes_tui.text import count, one_line, short
from hermes_tui.times import stretch
from hermes_tui.values import dataclass
from hermes_tui.widgets.ink import AXIS, Line, View, crop, line, wrap
from hermes_tui.widgets.preview import recap_fitting
from hermes_tui.widgets.tree import ended_word
from hermes_tui.widgets.wording import model_word, place_word, source_word

RELATIONS = {
    Kind.ROOT: "where this family begins",
    Kind.SEGMENT: "",
    Kind.BRANCH: "branch of {}",
    Kind.RESET: "began when {} was reset",
    Kind.DELEGATE: "run delegated by {}",
    Kind.SIBLING: "continues {} too, and was not chosen",
    Kind.ORPHAN: "its parent is missing",
}


@dataclass(frozen=True, slots=True)
class NodeShown:
    """What is known so far of the session under the cursor."""

    profile: str
    node: LineageNode
    name: str
    """Safe to show."""
    parent: LineageNode | None
    alone: bool = False
    """There is no other session in the family."""
    conversation: Conversation | None = None
    """The chain that it belongs to."""
    recap: Recap | None = None
    said: str = ""
    """Why there is no recap."""


def relation(node: LineageNode, parent: LineageNode | None) -> str:
    """What it is to its parent, in words."""
    n, of = node.segment
    words = [f"segment {n} of {of}"] if of > 1 else []
    told = RELATIONS[node.kind]
    if told and (node.kind is not Kind.ROOT or of == 1):
        words.append(told.format(_parent_word(parent)))
    return ", ".join(words)


def _parent_word(parent: LineageNode | None) -> str:
    if parent is None:
        return "a session that is missing"
    n, of = parent.segment
    return f"segment {n}" if of > 1 else plain_title(parent.title or "", of, 300) or one_line(parent.id)


def node_facts(shown: NodeShown) -> list[str]:
    """Relation, what, how much, when."""
    node, row = shown.node, shown.conversation
    place = place_word(row.workspace) if row is not None else ""
    if row is not None and row.git_branch:
        place = f"{place} ({one_line(row.git_branch, 80)})".strip()
    much = [count(node.message_count, "message")]
    much += [f"{short(node.tokens)} tokens"] if node.tokens else []
    much += [ended_word(node.end_reason)] if node.end_reason else []
    what = [source_word(node.source), model_word(node.model), place]
    return [
        "" if shown.alone else relation(node, shown.parent),
        " · ".join(word for word in what if word),
        " · ".join(much),
        stretch(node.started_at, node.ended_at),
    ]


def node_view(shown: NodeShown) -> View:
    """Title, facts, as many of its last messages as fit, the link."""

    def view(width: int, height: int) -> list[Line]:
        top = [line(AXIS, *row) for row in wrap([(shown.name, "title")], width - 5, 2)]
        for fact in node_facts(shown):
            top += [line(AXIS, *row) for row in wrap([(fact, "quiet")], width - 5, 2) if fact]
        link = link_to(shown.profile, one_line(shown.node.id))
        foot = [line(), line(AXIS, *crop(((link, "quiet"),), width - 4))]
        room = height - len(top) - len(foot) - 1
        if room < 3:
            return [*top, *foot[1:]][:height]
        if shown.said:
            body = [line(AXIS, *row) for row in wrap([(shown.said, "aside")], width - 5, room)]
        else:
            body = recap_fitting(shown.recap, width, room) if shown.recap is not None else []
        return [*top, line(), *body, *[line()] * (room - len(body)), *foot]

    return view


def as_recap(messages: Sequence[Message], before: int) -> Recap:
    """The end of a segment that is not the last, told as the recap of a conversation is."""
    told = (entry_of(message, RecapSettings(), whole=True) for message in messages)
    return Recap(tuple(entry for entry in told if entry is not None), before)
