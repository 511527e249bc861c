"""Words that are nearly filters."""

from __future__ import annotations

import pytest

from hermes_tui.domain.filters import KEYS
from hermes_tui.domain.nearkeys import corrected, hint, misspelt


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("sorce:slack", "source:slack"),
        ("oauth -soruce:slack", "oauth -source:slack"),
        ("sorce:", "source:"),
        ("form:slack", "source:slack"),
        ("form:", "source:"),
        ("since:7d", "after:7d"),
        ("until:2026-01-01", "before:2026-01-01"),
        ("mesages:>50", "messages:>50"),
        ("Modle:gpt", "model:gpt"),
        ('workpsace:"my app" lock', 'workspace:"my app" lock'),
        ("sorce:a titel:b", "source:a title:b"),
    ],
)
def test_what_was_probably_meant(text: str, meant: str) -> None:
    assert corrected(text) == meant
    assert hint(text).endswith("?")
    assert misspelt(corrected(text)) == ()


def test_the_hint_names_both() -> None:
    assert hint("x sorce:slack") == "sorce: is no filter; did you mean source:?"


@pytest.mark.parametrize(
    "text",
    [
        *("TODO: fix", "TODO:fix", "todo:fix", "FIXME:x", "http://x", "https://a.b/c", "http:", "host:80", "note:x"),
        *("sorce: slack", '"a sorce:slack"', "std::sort", "C:\\x", "C:", "foo:bar", "12:30", "git@host:me/x.git"),
        *("file:a.py", "key:value", "@session:work/x", "feat: new", "fix:", "test:", "import:", "a:b:c", ":", "x:"),
        *(f"{key}:x" for key in KEYS),
        *(f"{key.upper()}:x" for key in KEYS),
    ],
)
def test_what_is_meant_as_it_stands(text: str) -> None:
    assert hint(text) == ""
    assert corrected(text) == text


@pytest.mark.parametrize(
    "text", ["a OR source:b", "source:b OR a", "a OR -title:b", 'title:"x y" OR a', "after:7d OR role:user"]
)
def test_that_or_does_not_reach_a_filter_word_is_said(text: str) -> None:
    assert "the whole query" in hint(text)


@pytest.mark.parametrize(
    "text", ["source:a OR Source:b", "a OR b source:c", '"a OR source:b"', "floor source:a", "a OR"]
)
def test_where_or_is_read_as_it_is_meant_nothing_is_said(text: str) -> None:
    assert hint(text) == ""
