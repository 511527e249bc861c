"""What a query was probably not meant to say. Pure."""

from __future__ import annotations

from collections.abc import Iterator


def hints(text: str) -> Iterator[str]:
    """Sentences about what is read otherwise than it was probably meant, the likeliest mistake first."""
    if ":" in text:
        from hermes_tui.domain.nearkeys import hint  # only for the few who need it

        if said := hint(text):
            yield said
    if text.count('"') % 2:
        yield 'A quote is open: what follows it is searched as words until another " closes it.'
    elif any(map(_grouping, text.split())):
        yield "Brackets group nothing here: words side by side belong together, then NOT, AND, OR."


def _grouping(word: str) -> bool:
    """Whether a bracket of it was meant to group: those of `main()` were not."""
    return word.startswith("(") or (word.endswith(")") and "(" not in word)
