"""What the reader has at hand: messages, the leaves made of them, and what of them is open. Both are kept only as
far as memory is cheap; what is missing is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes_tui.domain.messages import Message
from hermes_tui.widgets.transcript.leaves import Leaf
from hermes_tui.widgets.transcript.rendering import set_message
from hermes_tui.widgets.transcript.setter import Setting
from hermes_tui.widgets.transcript.wholes import Whole

_MESSAGES, _CHARACTERS = 4_000, 16_000_000
_LEAVES, _ROWS = 600, 60_000
_WHOLES = 4


class Shelf:
    """Messages and leaves by id; those used last stay longest."""

    def __init__(self) -> None:
        self.setting = Setting(80)
        self.opens: dict[int, dict[str, int]] = {}
        """How far what folds is open, by message and item."""
        self.missing: dict[int, None] = {}
        """Ids that were looked for and are not here, in order."""
        self.gone: set[int] = set()
        """Ids that were asked for and are no longer in the store."""
        self._messages: dict[int, Message] = {}
        self._characters = 0
        self._leaves: dict[int, Leaf] = {}
        self._wholes: dict[int, Whole] = {}

    # messages

    def differs(self, message: Message) -> bool:
        """Whether this message is here and reads otherwise."""
        known = self._messages.get(message.id)
        return known is not None and known != message

    def put(self, messages: Iterable[Message]) -> set[int]:
        """Keep these; which of them are other than those that were here."""
        changed = set()
        for message in messages:
            known = self._messages.pop(message.id, None)
            if known is not None:
                self._characters -= len(known.text)
            if known != message:
                changed.add(message.id)
                self._leaves.pop(message.id, None)
                self._wholes.pop(message.id, None)
            self._messages[message.id] = message
            self._characters += len(message.text)
            self.gone.discard(message.id)
            self.missing.pop(message.id, None)
        while len(self._messages) > _MESSAGES or (self._characters > _CHARACTERS and len(self._messages) > 100):
            oldest = next(iter(self._messages))
            self._characters -= len(self._messages.pop(oldest).text)
        return changed

    def message(self, message_id: int) -> Message | None:
        """The message, if it is here; it is remembered as missed otherwise."""
        found = self._messages.get(message_id)
        if found is None:
            if message_id not in self.gone:
                self.missing[message_id] = None
        else:
            self._messages[message_id] = self._messages.pop(message_id)
        return found

    def has(self, message_id: int) -> bool:
        return message_id in self._messages or message_id in self.gone

    # leaves

    def peek(self, message_id: int) -> Leaf | None:
        """The leaf, if it has been made."""
        return self._leaves.get(message_id)

    def touch(self, message_id: int) -> None:
        """This leaf is in use: others go first."""
        found = self._leaves.pop(message_id, None)
        if found is not None:
            self._leaves[message_id] = found

    def leaves(self) -> Iterable[tuple[int, Leaf]]:
        """All leaves that are at hand."""
        return self._leaves.items()

    def leaf(self, message_id: int, seams: Sequence[str] = ()) -> Leaf | None:
        """The leaf of a message; None while its text is not here."""
        found = self._leaves.pop(message_id, None)
        if found is None:
            message = self.message(message_id)
            if message is not None:
                opens = self.opens.get(message_id, {})
                found = set_message(message, self.setting, opens, seams, self._wholes.get(message_id))
            elif message_id in self.gone:
                found = Leaf(())
            else:
                return None
            self._tidy()
        self._leaves[message_id] = found
        return found

    def _tidy(self) -> None:
        if len(self._leaves) < _LEAVES and len(self._leaves) % 50:
            return
        rows = sum(len(leaf.rows) for leaf in self._leaves.values())
        while len(self._leaves) > _LEAVES or (rows > _ROWS and len(self._leaves) > 100):
            rows -= len(self._leaves.pop(next(iter(self._leaves))).rows)

    def drop(self, ids: Iterable[int] | None = None) -> None:
        """Forget leaves, which are made again when they are looked for; all of them by default."""
        if ids is None:
            self._leaves.clear()
        else:
            for each in ids:
                self._leaves.pop(each, None)

    # what is open

    def level(self, message_id: int, key: str) -> int | None:
        """How far something is open, if anybody said so."""
        return self.opens.get(message_id, {}).get(key)

    def open(self, message_id: int, key: str, level: int) -> None:
        """Open or fold; the leaf is made anew."""
        self.opens.setdefault(message_id, {})[key] = level
        self._leaves.pop(message_id, None)

    def forget_opens(self, keys: Iterable[str]) -> None:
        """What was opened or folded one by one follows the rule again."""
        wanted = frozenset(keys)
        for message_id, opens in list(self.opens.items()):
            kept = {key: level for key, level in opens.items() if key.partition(":")[0] not in wanted}
            if kept:
                self.opens[message_id] = kept
            else:
                del self.opens[message_id]

    def whole(self, message_id: int) -> Whole | None:
        return self._wholes.get(message_id)

    def put_whole(self, message_id: int, whole: Whole) -> None:
        """Keep a whole text; only the last few are kept."""
        self._wholes.pop(message_id, None)
        self._wholes[message_id] = whole
        while len(self._wholes) > _WHOLES:
            oldest = next(iter(self._wholes))
            del self._wholes[oldest]
            self.opens.get(oldest, {}).pop("message", None)
            self.opens.get(oldest, {}).pop("call", None)
            self._leaves.pop(oldest, None)
        self._leaves.pop(message_id, None)
