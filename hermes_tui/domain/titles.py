"""Which titles a query names: by the same words as in messages, also without punctuation (`an94`, `AN-94`). Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from hermes_tui.domain.querytrees import And, Leaf, Node, Without

_WORDS = re.compile(r"[^\W_]+")
_MARKS = re.compile("[\u0300-\u036f]")
_DROPPED = dict.fromkeys(code for code in range(128) if not chr(code).isalnum())
"""What is in no word, of ASCII: there, to leave it out is many times as fast as to look for words."""

_NO_END = r"[a-z0-9]|[^\x00-\x7f]"
"""Of what is not ASCII some becomes a letter when it is folded, and some is left out."""
_MANY_KINDS = 400
"""Kinds of characters that are in no word, from which on leaving out each takes longer than looking for words."""


def _folded(text: str) -> str:
    """A text without case and accents."""
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", text)
    return text.casefold()


def plain_words(text: str) -> list[str]:
    """The words of a text, without case and accents."""
    return _WORDS.findall(_folded(text))


def squeezed(text: str) -> str:
    """The words of a text without anything in between."""
    if text.isascii():
        return text.lower().translate(_DROPPED)
    return "".join(plain_words(text))


def squeezed_each(texts: Sequence[str]) -> list[str]:
    """`squeezed` of each of very many, gone through as one text in a fraction of the time."""
    if not texts:
        return []
    joined = _folded("\n".join(text.replace("\n", " ") for text in texts))
    parting = [char for char in set(joined) - {"\n"} if not _WORDS.match(char)]
    if len(parting) > _MANY_KINDS:
        return list(map(squeezed, texts))
    for char in parting:
        joined = joined.replace(char, "")
    return joined.split("\n")


def needed(node: Node) -> list[str]:
    """What stands in `joined` of every title for which a tree holds."""
    if isinstance(node, Leaf):
        return [squeezed(node.text)]
    if isinstance(node, Without):
        return needed(node.base)
    return [each for child in node.children for each in needed(child)] if isinstance(node, And) else []


Holds = Callable[[str, str], object]
"""Whether something holds for a title, given as it is and `squeezed`: what is not in the latter is not in the title,
and its words are looked at only where it is. There may be very many titles, and few are named."""


def holder(node: Node) -> Holds:
    """Whether a tree holds for a title."""
    if isinstance(node, Leaf):
        return _leaf_holder(node)
    if isinstance(node, Without):
        base, barred = holder(node.base), holder(node.barred)
        return lambda text, joined: base(text, joined) and not barred(text, joined)
    each = [holder(child) for child in node.children]
    some = all if isinstance(node, And) else any
    return lambda text, joined: some(holds(text, joined) for holds in each)


def _leaf_holder(leaf: Leaf) -> Holds:
    wanted = plain_words(leaf.text)
    squeezed = "".join(wanted)
    if not squeezed:
        return lambda text, joined: False
    if leaf.substring:
        return lambda text, joined: squeezed in joined

    def holds(text: str, joined: str) -> bool:
        if squeezed not in joined:
            return False
        chunks = _chunks(text)
        words = [word for chunk in chunks for word in chunk]
        return _in_order(words, wanted, prefix=leaf.prefix) or _unparted(chunks, squeezed, prefix=leaf.prefix)

    if len(wanted) > 1 or not squeezed.isascii():
        return holds
    found = _word(squeezed, leaf.prefix)
    return lambda text, joined: found(text) or holds(text, joined)


def _word(word: str, prefix: bool) -> Callable[[str], object]:
    """Looks for a word between characters that surely end one: faster than taking thousands of titles apart. What it
    does not find may be there all the same."""
    end = "" if prefix else f"(?!{_NO_END})"
    return re.compile(f"(?<!{_NO_END}){re.escape(word)}{end}", re.IGNORECASE | re.ASCII).search


def _chunks(text: str) -> list[list[str]]:
    """The words of each stretch without blanks: only inside of one may punctuation be missing."""
    return [words for chunk in text.split() if (words := plain_words(chunk))]


def _in_order(words: list[str], wanted: list[str], *, prefix: bool) -> bool:
    size = len(wanted)
    for start in range(len(words) - size + 1):
        there = words[start : start + size]
        last = there[-1].startswith(wanted[-1]) if prefix else there[-1] == wanted[-1]
        if last and there[:-1] == wanted[:-1]:
            return True
    return False


def _unparted(chunks: list[list[str]], squeezed: str, *, prefix: bool) -> bool:
    """Whether the words stand there without the punctuation between them, or with some that is not asked for."""
    for chunk in chunks:
        for start in range(len(chunk)):
            run = ""
            for word in chunk[start:]:
                run += word
                if run == squeezed or (prefix and run.startswith(squeezed)):
                    return True
                if len(run) > len(squeezed):
                    break
    return False
