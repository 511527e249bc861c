"""Which titles a query names: by the same words as in messages, also without punctuation (`an94`, `AN-94`). Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

from hermes_tui.domain.querytrees import And, Leaf, Node, Without
from hermes_tui.values import dataclass

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


@dataclass(frozen=True, slots=True)
class Title:
    """A title, made ready to be compared with many queries."""

    text: str
    joined: str
    """Its words without anything in between: what is not in there is not in the title. Its words are looked at only
    where it is: there may be very many titles, and few are named."""

    def matches(self, node: Node) -> bool:
        """Whether a tree holds for this title."""
        if isinstance(node, Leaf):
            return self._holds(node)
        if isinstance(node, Without):
            return self.matches(node.base) and not self.matches(node.barred)
        return (all if isinstance(node, And) else any)(map(self.matches, node.children))

    def _holds(self, leaf: Leaf) -> bool:
        wanted = plain_words(leaf.text)
        squeezed = "".join(wanted)
        if not squeezed or squeezed not in self.joined:
            return False
        if leaf.substring or (len(wanted) == 1 and squeezed.isascii() and _word(squeezed, leaf.prefix)(self.text)):
            return True
        chunks = _chunks(self.text)
        words = [word for chunk in chunks for word in chunk]
        return _in_order(words, wanted, prefix=leaf.prefix) or _unparted(chunks, squeezed, prefix=leaf.prefix)


@lru_cache(16)
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
