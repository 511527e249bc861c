"""Settings: who decides, and which line is at fault."""

from __future__ import annotations

import os
import string
from pathlib import Path
from typing import Any

import pytest

from hermes_tui import rebindings, settings
from hermes_tui.domain.sessions import Order
from hermes_tui.errors import UsageError
from hermes_tui.keys import PLACES
from hermes_tui.settings import Settings


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, "utf-8")
    return path


def test_without_a_file_everything_is_default(tmp_path: Path) -> None:
    found, entries = settings.load(path=tmp_path / "none.toml")
    assert found == Settings()
    assert {entry.source for entry in entries} == {"default"}


def test_an_option_beats_the_environment_beats_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, 'theme = "nord"\nascii = true\n')

    def theme(options: dict[str, Any] | None = None) -> tuple[str, str]:
        _, entries = settings.load(options, path=path)
        return next((entry.value, entry.source) for entry in entries if entry.key == "theme")

    assert theme() == ("nord", "file")
    monkeypatch.setenv("HERMES_TUI_THEME", "light")
    assert theme() == ("light", "environment")
    assert theme({"theme": "dark"}) == ("dark", "option")
    assert settings.load(path=path)[0].ascii


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(UsageError, match="is not a file"):
        settings.load(path=tmp_path / "config.toml")
    with pytest.raises(UsageError, match="is not a file"):
        settings.load(path=tmp_path)


def test_no_color_counts_only_when_it_says_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert not settings.load(path=tmp_path / "none.toml")[0].no_color
    monkeypatch.setenv("NO_COLOR", "1")
    assert settings.load(path=tmp_path / "none.toml")[0].no_color


def test_every_setting_can_be_written_down(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        'theme = "dark"\nmouse = false\nascii = true\nno_color = true\npreview = false\nenter = "resume"\n'
        'order = "title"\nreverse = true\nhidden = true\nfilter = "-source:slack"\n'
        '[keys]\n"browse.filter" = "ctrl+f"\nbrowse.search = "slash,ctrl+s"\n',
    )
    found, entries = settings.load(path=path)
    assert found == Settings(
        theme="dark",
        mouse=False,
        ascii=True,
        no_color=True,
        preview=False,
        enter="resume",
        order=Order.TITLE,
        reverse=True,
        hidden=True,
        filter="-source:slack",
        keys={"browse.filter": "ctrl+f", "browse.search": "slash,ctrl+s"},
    )
    assert ("keys.browse.filter", "ctrl+f", "file") in {(entry.key, entry.value, entry.source) for entry in entries}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ('theme = "dark"\ncolour = "red"\n', 2, "colour"),
        ('\n\nmouse = "no"\n', 3, "true or false"),
        ("theme = 3\n", 1, "quotes"),
        ("mouse = true\ntheme = \n", 2, "theme has no value"),
        ("theme =", 1, "theme has no value"),
        ("preview = # yes\n", 1, "preview has no value"),
        ("\ntheme = dark\n", 2, "theme = dark: a value is true, false, or a text in quotes"),
        ("theme = \x1b[31m\n", 1, ""),
        ('order = "size"\n', 1, "not 'size'"),
        ('# a comment\nenter = "leave"\n', 2, "read, resume"),
        ('mouse = true\norder = "size"\n', 2, "active"),
        ('mouse = true\n[keys]\n"browse.filter" = "f"\n"browse.nothing" = "x"\n', 4, "browse.nothing"),
        ('[keys]\n"browse.nothing" = "x"\n', 2, "there are browse.read, browse.search, browse.filter"),
        ('[keys]\n"brows.filter" = "x"\n', 2, "names begin with browse., search., transcript."),
        ("[keys]\nbrowse.filter = 3\n", 2, "browse.filter"),
        ('[keys]\n[keys.browse]\nfilter = ""\n', 3, "browse.filter"),
        ("keys = 3\n", 1, "[keys]"),
        ('theme = "dark"\n[keys]\n"browse.filter" = "r"\n', 3, "browse.resume"),
        ('[keys]\n"browse.filter" = "x"\n"browse.order" = "f1,x"\n', 2, "browse.order"),
        ('[keys]\n"browse.filter" = "?"\n', 2, "everywhere.keys"),
        ('[keys]\n"everywhere.keys" = "question_mark,s"\n', 2, "browse.order"),
        ('[keys]\n"everywhere.palette" = "a"\n"transcript.find" = "ctrl+f"\n', 2, "browse.hidden"),
        ('[keys]\n"browse.order" = "o"\n"browse.filter" = "ctl+f"\n', 3, "ctl+f"),
        ('[keys]\n"browse.filter" = "shift+f"\n', 2, "'F'"),
        ('[keys]\n"browse.filter" = "ctrl+F"\n', 2, "'ctrl+f'"),
        ('[keys]\n"browse.filter" = "f,,x"\n', 2, "comma"),
        ('[keys]\n"browse.filter" = "pgdn"\n', 2, "pagedown"),
        ('[keys]\n"search.next" = "n"\n', 2, "text in the query box"),
        ('[keys]\n"search.recent" = "ctrl+u"\n', 2, "text in the query box"),
        ('[keys]\n"everywhere.quit" = "ctrl+q,Q"\n', 2, "text in an input"),
        ('filter = "x"\n[keys.browse]\nfilter = 3\n', 3, "browse.filter"),
        ('[keys]\nbrowse.order = "o"\n[keys.search]\norder = ""\n', 4, "search.order"),
        ('mouse = true\nkeys = { "browse.filter" = 3 }\n', 2, "browse.filter"),
        ('mouse = true\nfilter = "after:never"\n', 2, "never"),
        ('theme = "dark"\nmouse = [\n\n', 4, "line 4"),
        ('theme = "dark\n', 1, "line 1"),
        ("mouse = true\nmouse = false\n", 2, "line 2"),
    ],
)
def test_an_error_names_file_and_line(tmp_path: Path, text: str, line: int, word: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        settings.load(path=path)
    message = str(refused.value)
    assert str(path) in message
    assert f"line {line}" in message
    assert word in message
    assert "\n" not in message


def test_a_file_that_is_no_text_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"mouse = true\n# \xff\xfe\x00")
    with pytest.raises(UsageError, match="line 2: it cannot be read"):
        settings.load(path=path)


@pytest.mark.parametrize(
    "keys",
    [
        '"browse.order" = "S"\n"browse.reverse" = "s"',
        '"browse.filter" = "ctrl+f, f3"',
        '"search.next" = "n,ctrl+n,f5"',
        '"browse.search" = "?"\n"everywhere.keys" = "f1"',
        '"transcript.find" = "f"\n"browse.lineage" = "L"',
        '"browse.filter" = "+"\n"browse.preview" = "comma"\n"browse.id" = "alt+i,ctrl+at"',
    ],
)
def test_keys_that_are_told_apart_are_taken(tmp_path: Path, keys: str) -> None:
    settings.load(path=write(tmp_path, f"[keys]\n{keys}\n"))


def test_the_keys_as_they_come_could_be_written_down_as_they_are(tmp_path: Path) -> None:
    lines = [f'"{key.id}" = "{key.keys}"' for place in PLACES.values() for key in place]
    found, _ = settings.load(path=write(tmp_path, "\n".join(["[keys]", *lines])))
    assert len(found.keys) == len(lines)


def test_punctuation_has_the_names_that_the_screen_knows() -> None:
    from textual.keys import _character_to_key

    assert {char: _character_to_key(char) for char in string.punctuation} == rebindings._PUNCTUATION
