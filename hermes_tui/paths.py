"""Where homes, profiles and our own files are; homes and profiles as Hermes resolves them (FACTS 1).

Nothing here opens a database or writes a file.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

from hermes_tui.domain.profiles import ProfileInfo, StoreRef
from hermes_tui.errors import StoreMissing, UsageError
from hermes_tui.text import one_line

DATABASE = "state.db"
PROFILES = "profiles"
DEFAULT = "default"
CUSTOM = "custom"
_NAME = r"[a-z0-9][a-z0-9_-]{0,63}"
_RESERVED = frozenset({"hermes", "test", "tmp", "root", "sudo"})
_MARKERS = ("config.yaml", ".env", "SOUL.md", "profile.yaml", "auth.json", DATABASE)


def styles_dir() -> Path:
    """The folder of style sheets: inside the package when installed, beside it in a checkout."""
    inside = Path(__file__).parent / "styles"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "styles"


def sheet(name: str) -> Path:
    """The style sheet of this name."""
    return styles_dir() / f"{name}.tcss"


def native_home() -> Path:
    """Hermes' home when nothing says otherwise."""
    suffix = os.environ.get("HERMES_DATA_DIR_SUFFIX", "")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "").strip()
        return Path(base or user_home() / "AppData" / "Local") / f"hermes{suffix}"
    return user_home() / f".hermes{suffix}"


def user_home() -> Path:
    """The user's own folder; a plain `~` where nothing says which that is."""
    return Path(os.path.expanduser("~"))


def env_home() -> Path | None:
    """What HERMES_HOME names; None when it is unset or blank."""
    value = os.environ.get("HERMES_HOME", "").strip()
    return Path(os.path.expanduser(os.path.expandvars(value))) if value else None


def _resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def read_short(path: Path, largest: int) -> bytes:
    """What a file holds that should be short. Raises `OSError` for one that is not, and for what is no file: nobody
    may ever write into a pipe."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) or found.st_size > largest:
        raise OSError(f"{path} is no short file")
    return path.read_bytes()


def root_of(home: Path) -> Path:
    """The root that a home belongs to: the native home for itself and all below it, else the folder above
    `profiles`, else the home itself."""
    native = _resolved(native_home())
    real = _resolved(home)
    if real == native or native in real.parents:
        return native_home()
    return home.parent.parent if home.parent.name == PROFILES else home


def active_profile(root: Path) -> str:
    """The profile that Hermes would use by itself: the sticky file, else `default`."""
    try:
        name = read_short(root / "active_profile", 65_536).decode("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError):
        return DEFAULT
    return normalize_profile(name) or DEFAULT


def normalize_profile(name: str) -> str:
    """As Hermes folds a name: blanks dropped, lower case."""
    return name.strip().lower()


def valid_profile(name: str) -> bool:
    """Whether Hermes takes this name on its command line."""
    return name == DEFAULT or (bool(re.fullmatch(_NAME, name)) and name not in _RESERVED)


def profile_home(root: Path, name: str) -> Path:
    """The home of a profile, whether or not it exists."""
    return root if name == DEFAULT else root / PROFILES / name


def profile_of(home: Path) -> str:
    """`default` for a root, the name for `<root>/profiles/<name>`, else `custom`."""
    root = root_of(home)
    real, real_root = _resolved(home), _resolved(root)
    if real == real_root:
        return DEFAULT
    return real.name if real.parent == real_root / PROFILES and _names_a_folder(real.name) else CUSTOM


def _names_a_folder(name: str) -> bool:
    """Whether a folder of this name below `profiles` can be a profile: `default` is the root itself."""
    return name != DEFAULT and re.fullmatch(_NAME, name) is not None


def present_root() -> Path:
    """The root that Hermes would resolve from the present environment."""
    return root_of(env_home() or native_home())


def _ref(home: Path, *, profile: str | None = None, root: Path | None = None) -> StoreRef:
    return StoreRef(profile or profile_of(home), home / DATABASE, home, root or root_of(home))


def default_store() -> StoreRef:
    """The store that Hermes itself would use: a HERMES_HOME inside `profiles` is taken at its word, else the
    sticky profile of the root wins. Raises `StoreMissing` when the sticky file holds no profile's name."""
    home = env_home()
    if home is not None and home.parent.name == PROFILES:
        return _ref(home)
    home = home or native_home()
    root = root_of(home)
    name = active_profile(root)
    if name != DEFAULT and not _names_a_folder(name):
        where, wrong = root / "active_profile", one_line(name, 60)
        raise StoreMissing(f"{where} holds {wrong!r}, which is no profile name; name a profile with -p.")
    # Below the very home: where that lies deeper than its root, Hermes looks for the profile there too.
    return _ref(profile_home(home, name))


def home_store(home: Path) -> StoreRef:
    """The store of a home named by `--home`."""
    home = Path(os.path.expanduser(home))
    return _ref(home)


def file_store(db: Path) -> StoreRef:
    """The store named by `--db`; only a file called `state.db` can be resumed from."""
    db = Path(os.path.expanduser(db))
    folder = Path(os.path.abspath(db)).parent
    if db.name != DATABASE:
        why = f"hermes opens only files called {DATABASE}, and this one is called {db.name}"
        return StoreRef(CUSTOM, db, folder, root_of(folder), resumable=False, why_not=why)
    if _resolved(folder) == _resolved(present_root()):
        return StoreRef(DEFAULT, db, folder, present_root())
    if folder.parent.name == PROFILES and _names_a_folder(folder.name):
        return StoreRef(folder.name, db, folder, folder.parent.parent)
    return StoreRef(CUSTOM, db, folder, root_of(folder))


def profile_store(root: Path, name: str) -> StoreRef:
    """The store of the profile called `name`. Raises `UsageError` for a name that is none, `StoreMissing`
    for a profile that does not exist. One that does is read even if Hermes would not start with its name."""
    wanted = normalize_profile(name)
    home = profile_home(root, wanted)
    there = wanted == DEFAULT or (_names_a_folder(wanted) and _is_profile(home))
    if not there and not valid_profile(wanted):
        raise UsageError(f"{name!r} is no profile name; see: hermes-tui profiles")
    if not there:
        why = _why_none(home) or f"does not exist in {root / PROFILES}"
        raise StoreMissing(f"Profile {wanted!r} {why}; see: hermes-tui profiles", db=home / DATABASE, profile=wanted)
    return StoreRef(wanted, home / DATABASE, home, root)


def _is_profile(home: Path) -> bool:
    """As Hermes tells a profile from a stray folder; one that cannot be looked into may well be one."""
    try:
        if (home.parent / ".deleted" / home.name).exists() or not home.is_dir():
            return False
        return any((home / marker).is_symlink() or (home / marker).is_file() for marker in _MARKERS)
    except PermissionError:
        return True


def _why_none(home: Path) -> str:
    """Why a folder that is there is no profile; empty when there is none."""
    if not home.is_dir():
        return ""
    if (home.parent / ".deleted" / home.name).exists():
        return f"was deleted in Hermes, although {home} is still there"
    return f"is none for Hermes yet: {home} holds none of {', '.join(_MARKERS)}"


def profile_stores(root: Path) -> list[StoreRef]:
    """Every profile of a root, `default` first; those without a database too."""
    return [StoreRef(p.name, p.db, p.home, root) for p in list_profiles(root) if p.valid]


def _default_profile() -> str | None:
    """The profile that Hermes would use; None where its sticky file is broken."""
    try:
        return default_store().profile
    except StoreMissing:
        return None


def list_profiles(root: Path, *, used: str | None = None) -> list[ProfileInfo]:
    """What `profiles` shows: `default`, then by name; folders whose name is no profile name too, marked.

    `used` names the active one; by default it is the one that Hermes would use.
    """
    used = used or (_default_profile() if _resolved(present_root()) == _resolved(root) else active_profile(root))
    names = [DEFAULT]
    folder = root / PROFILES
    try:
        names += sorted(each.name for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    except OSError:
        names = [DEFAULT]
    found = []
    for name in dict.fromkeys(names):
        home = profile_home(root, name)
        valid = name == DEFAULT or _names_a_folder(name)
        if name != DEFAULT and valid and not _is_profile(home):
            continue
        db = home / DATABASE
        found.append(ProfileInfo(name, home, db, os.path.isfile(db), active=valid and name == used, valid=valid))
    return found


def tilde(path: Path) -> str:
    """As people write it: `~/…` below the user's home."""
    home = user_home()
    if path == home:
        return "~"
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)
