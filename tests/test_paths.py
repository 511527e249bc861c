"""Homes, profiles and stores are found as Hermes finds them; a table of environments is put to both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tui import paths
from hermes_tui.errors import StoreMissing, UsageError
from hermes_tui.state import read_json
from hermes_tui.storage.config import read_config
from hermes_tui.storage.live import live_ids
from tests.real_stores import hermes_environment, hermes_python

Environment = dict[str, str]
CASES: dict[str, Callable[[Path], Environment]] = {}
"""Name → builder of a user's folder; returns what is added to the environment."""


def case(build: Callable[[Path], Environment]) -> Callable[[Path], Environment]:
    CASES[build.__name__] = build
    return build


def profile(root: Path, name: str, marker: str = "config.yaml") -> Path:
    home = root / "profiles" / name
    home.mkdir(parents=True, exist_ok=True)
    (home / marker).write_text("")
    return home


def sticky(root: Path, content: str | bytes) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "active_profile").write_bytes(content if isinstance(content, bytes) else content.encode())


@case
def nothing_set(user: Path) -> Environment:
    return {}


@case
def blank_is_unset(user: Path) -> Environment:
    return {"HERMES_HOME": "   "}


@case
def a_suffix(user: Path) -> Environment:
    profile(user / ".hermes-dev", "work")
    return {"HERMES_DATA_DIR_SUFFIX": "-dev"}


@case
def a_root_of_its_own(user: Path) -> Environment:
    profile(user / "opt/data", "coder", "SOUL.md")
    return {"HERMES_HOME": str(user / "opt/data")}


@case
def a_profile_of_such_a_root(user: Path) -> Environment:
    return {"HERMES_HOME": str(profile(user / "opt/data", "coder"))}


@case
def a_profile_of_the_native_root(user: Path) -> Environment:
    profile(user / ".hermes", "other", "auth.json")
    return {"HERMES_HOME": str(profile(user / ".hermes", "work")) + "/"}


@case
def a_home_inside_the_native_root(user: Path) -> Environment:
    profile(user / ".hermes", "work")
    (user / ".hermes/sub").mkdir()
    return {"HERMES_HOME": str(user / ".hermes/sub")}


@case
def deeper_inside_a_profile(user: Path) -> Environment:
    return {"HERMES_HOME": str(profile(user / ".hermes", "work") / "deeper")}


@case
def a_tilde(user: Path) -> Environment:
    return {"HERMES_HOME": "~/elsewhere"}


@case
def a_variable(user: Path) -> Environment:
    return {"BASE": str(user / "base"), "HERMES_HOME": "$BASE/x"}


@case
def a_sticky_profile(user: Path) -> Environment:
    profile(user / ".hermes", "work")
    sticky(user / ".hermes", "work\n")
    return {}


@case
def a_sticky_profile_beats_the_root(user: Path) -> Environment:
    profile(user / "opt/data", "work")
    sticky(user / "opt/data", "\ufeff Work \n")
    return {"HERMES_HOME": str(user / "opt/data")}


@case
def a_named_profile_beats_the_sticky_one(user: Path) -> Environment:
    profile(user / "opt/data", "work")
    sticky(user / "opt/data", "work\n")
    return {"HERMES_HOME": str(profile(user / "opt/data", "coder"))}


@case
def a_sticky_default(user: Path) -> Environment:
    sticky(user / ".hermes", "default\n")
    return {}


@case
def a_sticky_nothing(user: Path) -> Environment:
    sticky(user / ".hermes", "\n")
    return {}


@case
def a_sticky_file_that_is_no_text(user: Path) -> Environment:
    profile(user / ".hermes", "work")
    sticky(user / ".hermes", b"work\xff\n")
    return {}


@case
def a_sticky_folder(user: Path) -> Environment:
    (user / ".hermes/active_profile").mkdir(parents=True)
    return {}


@case
def a_symlinked_home(user: Path) -> Environment:
    profile(user / "real", "work")
    (user / ".hermes").symlink_to(user / "real")
    return {"HERMES_HOME": str(user / "real/profiles/work")}


@case
def folders_that_are_no_profiles(user: Path) -> Environment:
    root = user / ".hermes"
    for name in ("Bad Name", "UPPER", "-dash", "a" * 65, "default", ".hidden"):
        profile(root, name)
    profile(root, "test")
    (root / "profiles/stray").mkdir()
    profile(root, "gone")
    (root / "profiles/.deleted").mkdir()
    (root / "profiles/.deleted/gone").write_text("")
    profile(root, "linked").joinpath("config.yaml").unlink()
    (root / "profiles/linked/.env").symlink_to(root / "nowhere")
    (root / "profiles/file").write_text("")
    return {}


_ASK = """
import json, os, sys
sys.argv = ["hermes"]
import hermes_cli.main as main
import hermes_cli.profiles as profiles
import hermes_constants as constants

for name, environment in json.load(sys.stdin).items():
    sys.stdout.flush()
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    os.environ.clear()
    os.environ.update(environment)
    constants._default_hermes_root_memo = None
    main._apply_profile_override()
    root = constants.get_default_hermes_root()
    found = [str(constants.get_hermes_home()), str(root), profiles.get_active_profile_name()]
    print(json.dumps([name, *found, profiles.list_profile_names()]))
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Environment]]:
    """Every case as a user's folder and what its environment adds."""
    made = {}
    for name, build in CASES.items():
        user = tmp_path_factory.mktemp(name)
        made[name] = (user, {"HOME": str(user), **build(user)})
    return made


@pytest.fixture(scope="module")
def hermes_says(
    world: dict[str, tuple[Path, Environment]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[str, str, str, list[str]]]:
    """Case → home, root, profile and profiles, as Hermes 0.22.2 resolves them."""
    home = tmp_path_factory.mktemp("asking")
    environments = {name: {"PATH": os.environ["PATH"], **environment} for name, (_, environment) in world.items()}
    asked = subprocess.run(
        [str(hermes_python()), "-c", _ASK],
        input=json.dumps(environments),
        capture_output=True,
        text=True,
        env=hermes_environment(home),
        check=True,
    )
    answers = [json.loads(line) for line in asked.stdout.splitlines() if line.startswith("[")]
    return {name: (home, root, profile, names) for name, home, root, profile, names in answers}


def enter(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HERMES_HOME", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("name", CASES)
def test_home_root_and_profile_are_those_of_hermes(
    name: str,
    world: dict[str, tuple[Path, Environment]],
    hermes_says: dict[str, tuple[str, str, str, list[str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    enter(world[name][1], monkeypatch)
    store = paths.default_store()
    home, root, profile, names = hermes_says[name]
    assert store.home.resolve() == Path(home).resolve()
    assert store.root.resolve() == Path(root).resolve()
    assert store.profile == profile
    assert store.db == store.home / "state.db"
    assert [each.profile for each in paths.profile_stores(paths.present_root())] == names


def test_folders_whose_name_is_no_profile_name_are_listed_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter({"HOME": str(tmp_path), **folders_that_are_no_profiles(tmp_path)}, monkeypatch)
    listed = paths.list_profiles(tmp_path / ".hermes")
    assert [each.name for each in listed if each.valid] == ["default", "linked", "test"]
    assert {each.name for each in listed if not each.valid} == {"Bad Name", "UPPER", "-dash", "a" * 65}
    assert [each.name for each in listed if each.active] == ["default"]


def test_a_sticky_profile_that_was_deleted_is_named_in_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter({"HOME": str(tmp_path)}, monkeypatch)
    sticky(tmp_path / ".hermes", "ghost\n")
    assert paths.default_store().db == tmp_path / ".hermes/profiles/ghost/state.db"
    assert paths.default_store().profile == "ghost"


class TestNamedProfiles:
    def test_names_are_folded_as_hermes_folds_them(self, tmp_path: Path) -> None:
        profile(tmp_path, "coder")
        assert paths.profile_store(tmp_path, "  Coder ").home == tmp_path / "profiles/coder"
        assert paths.profile_store(tmp_path, "DEFAULT").home == tmp_path

    @pytest.mark.parametrize("name", ["", "Work Bot", "../x", "a/b", "-x", "tmp", "root", "hermes", "x" * 65, "é"])
    def test_an_ill_formed_name_is_wrong_use(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(UsageError):
            paths.profile_store(tmp_path, name)

    @pytest.mark.parametrize("name", ["hermes", "test", "tmp", "root", "sudo"])
    def test_what_is_listed_can_be_opened_whatever_hermes_says_to_its_name(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "profiles" / name).mkdir(parents=True)
        with pytest.raises(UsageError):
            paths.profile_store(tmp_path, name)
        home = profile(tmp_path, name)
        listed = paths.profile_stores(tmp_path)
        assert [each.profile for each in listed] == ["default", name]
        assert paths.profile_store(tmp_path, name.upper()) == listed[1]
        assert listed[1].home == home

    def test_a_profile_that_does_not_exist_is_a_missing_store(self, tmp_path: Path) -> None:
        (tmp_path / "profiles/stray").mkdir(parents=True)
        for name in ("nope", "stray"):
            with pytest.raises(StoreMissing, match=name) as failure:
                paths.profile_store(tmp_path, name)
            assert failure.value.exit_code == 3
            assert not (tmp_path / "profiles/nope").exists()
            assert ("does not exist in" in str(failure.value)) is (name == "nope")
        with pytest.raises(StoreMissing, match=r"holds none of config\.yaml"):
            paths.profile_store(tmp_path, "stray")
        (tmp_path / "profiles/.deleted").mkdir()
        (tmp_path / "profiles/.deleted/stray").touch()
        with pytest.raises(StoreMissing, match="was deleted in Hermes"):
            paths.profile_store(tmp_path, "stray")


class TestNamedFiles:
    def test_a_state_db_in_the_present_root_is_default(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("HERMES_HOME", str(tmp_path))
        assert paths.file_store(tmp_path / "state.db").profile == "default"

    def test_a_state_db_below_profiles_is_that_profile(self, tmp_path: Path) -> None:
        home = profile(tmp_path / "anywhere", "work")
        store = paths.file_store(home / "state.db")
        assert (store.profile, store.root, store.resumable) == ("work", tmp_path / "anywhere", True)

    @pytest.mark.parametrize("folder", ["backup", "profiles/Bad Name", "profiles/default"])
    def test_any_other_folder_is_custom(self, tmp_path: Path, folder: str) -> None:
        store = paths.file_store(tmp_path / folder / "state.db")
        assert (store.profile, store.resumable) == ("custom", True)

    def test_another_file_name_cannot_be_resumed(self, tmp_path: Path) -> None:
        store = paths.file_store(profile(tmp_path, "work") / "old.db")
        assert (store.profile, store.resumable) == ("custom", False)
        assert "old.db" in store.why_not

    def test_a_relative_path_knows_its_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        home = profile(tmp_path, "work")
        monkeypatch.chdir(home)
        assert paths.file_store(Path("state.db")).profile == "work"

    def test_a_tilde_is_the_users_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        assert paths.file_store(Path("~/x/state.db")).db == tmp_path / "x/state.db"
        assert paths.home_store(Path("~/x")).db == tmp_path / "x/state.db"


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", "Bad Name", "a/b", ".."])
def test_a_sticky_file_leads_to_no_place_that_is_no_profile(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "user/.hermes"
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("HERMES_HOME")
    sticky(root, name)
    with pytest.raises(StoreMissing, match=r"active_profile.*no profile name"):
        paths.default_store()
    assert [(each.name, each.active) for each in paths.list_profiles(root)] == [("default", False)]


def test_a_home_of_its_own_is_its_own_default(tmp_path: Path) -> None:
    store = paths.home_store(tmp_path / "copy")
    assert (store.profile, store.root) == ("default", tmp_path / "copy")


@pytest.mark.parametrize("shown", ["~", "~/x/state.db"])
def test_paths_below_the_user_are_shown_with_a_tilde(
    shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths.tilde(Path(os.path.expanduser(shown))) == shown
    assert paths.tilde(Path("/opt/data")) == "/opt/data"


def test_style_sheets_are_found() -> None:
    assert (paths.styles_dir() / "app.tcss").is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes in the file system")
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "runtime").mkdir()
    for name in ("active_profile", "config.yaml", "recent.json", "runtime/active_sessions.json"):
        os.mkfifo(tmp_path / name)
    assert paths.active_profile(tmp_path) == "default"
    assert read_config(tmp_path) == {}
    assert read_json(tmp_path / "recent.json") is None
    assert live_ids(tmp_path) == frozenset()
