"""Which titles a query names: by the same words as in messages, also without punctuation (`an94`, `AN-94`). Pure."""

from __future__ import annotations

import re
import unicodedata

from hermes_tui.domain.querytrees import And, Leaf, Node, Without
from hermes_tui.values import dataclass

_WORDS = re.compile(r"[^\W_]+")
_MARKS = re.compile("[\u0300-\u036f]")


def plain_words(text: str) -> list[str]:
    """The words of a text, without case and accents."""
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", text)
    return _WORDS.findall(text.casefold())


@dataclass(frozen=True, slots=True)
class Title:
    """A title, made ready to be compared with many queries."""

    words: tuple[str, ...]
    """In order."""
    joined: str
    """The same without anything in between."""
    chunks: tuple[tuple[str, ...], ...]
    """The words of each stretch without blanks: only inside of one may punctuation be missing."""

    @classmethod
    def of(cls, text: str) -> Title:
        chunks = tuple(words for words in (tuple(plain_words(chunk)) for chunk in text.split()) if words)
        words = tuple(word for chunk in chunks for word in chunk)
        return cls(words, "".join(words), chunks)

    def matches(self, node: Node) -> bool:
        """Whether a tree holds for this title."""
        if isinstance(node, Leaf):
            return self._holds(node)
        if isinstance(node, Without):
            return self.matches(node.base) and not self.matches(node.barred)
        return (all if isinstance(node, And) else any)(map(self.matches, node.children))

    def _holds(self, leaf: Leaf) -> bool:
        wanted = tuple(plain_words(leaf.text))
        squeezed = "".join(wanted)
        if not squeezed or squeezed not in self.joined:
            return False
        if leaf.substring:
            return True
        return self._in_order(wanted, prefix=leaf.prefix) or self._without_punctuation(squeezed, prefix=leaf.prefix)

    def _in_order(self, wanted: tuple[str, ...], *, prefix: bool) -> bool:
        size = len(wanted)
        for start in range(len(self.words) - size + 1):
            there = self.words[start : start + size]
            last = there[-1].startswith(wanted[-1]) if prefix else there[-1] == wanted[-1]
            if last and there[:-1] == wanted[:-1]:
                return True
        return False

    def _without_punctuation(self, squeezed: str, *, prefix: bool) -> bool:
        for chunk in self.chunks:
            for start in range(len(chunk)):
                run = ""
                for word in chunk[start:]:
                    run += word
                    if run == squeezed or (prefix and run.startswith(squeezed)):
                        return True
                    if len(run) > len(squeezed):
                        break
        return False
