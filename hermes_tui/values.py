"""`dataclass` and `NamedTuple`, as the standard library has them, made in a fraction of the time.

The standard one compiles half a dozen functions for each class, one at a time, and imports `inspect`; with as many
classes as there are here that was a third of what a command takes from its start to its end. This one compiles
`__init__` alone, and that when the first instance is made: most classes never have one in a run. Type checkers are
told that it is the standard one, and `dataclasses.replace`, `fields` and the like take it for such. The standard
`NamedTuple` compiles the annotation of each field, to see whether it could be a type.
"""

from __future__ import annotations

from collections import namedtuple
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import NamedTuple as NamedTuple
    from typing import TypeVar

    T = TypeVar("T", bound=tuple[Any, ...])

    def made(kind: type[T], fields: tuple[Any, ...]) -> T:
        """A `NamedTuple` of which all fields are given, without a call in between: of tens of thousands that is a
        third of the time."""
else:
    made = tuple.__new__
    _NONE = object()
    """Stands for no value."""
    _PLAIN = {"__dict__", "__weakref__"}
    """What a class with slots must not take over from the one without."""

    class _Field:
        """A default that is made anew for each instance, or a field that nobody gives."""

        __slots__ = ("default", "factory", "init", "kind")

        def __init__(self, default: Any, factory: Any, init: bool) -> None:
            self.default, self.factory, self.init = default, factory, init
            self.kind = ""

    def field(*, default: Any = _NONE, default_factory: Any = _NONE, init: bool = True) -> _Field:
        """As in `dataclasses`, as far as it is needed here."""
        return _Field(default, default_factory, init)

    def replace(value: Any, /, **changes: Any) -> Any:
        """As in `dataclasses`."""
        if not hasattr(value, "__made_of__"):
            import dataclasses

            return dataclasses.replace(value, **changes)
        for name, each in type(value).__made_of__.items():
            if each.init and name not in changes:
                changes[name] = getattr(value, name)
        return type(value)(**changes)

    def dataclass(cls: Any = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True) -> Any:
        """As in `dataclasses`, with the options that are used here."""
        if cls is None:
            return lambda cls: _made(cls, frozen, slots, eq)
        return _made(cls, frozen, slots, eq)

    def _made(cls: type, frozen: bool, slots: bool, eq: bool) -> type:
        own: dict[str, _Field] = {}
        for name, kind in cls.__annotations__.items():
            if not kind.startswith(("ClassVar", "typing.ClassVar")):
                given = cls.__dict__.get(name, _NONE)
                own[name] = given if isinstance(given, _Field) else _Field(given, _NONE, True)
                own[name].kind = kind
        made_of: dict[str, _Field] = {}
        for base in reversed(cls.__mro__[1:]):
            made_of.update(base.__dict__.get("__made_of__", {}))
        made_of.update(own)
        for name, each in own.items():
            if each.default is not _NONE:
                setattr(cls, name, each.default)
            elif isinstance(cls.__dict__.get(name), _Field):
                delattr(cls, name)
        if slots:
            cls = _slotted(cls, own)
        names = tuple(made_of)
        methods: dict[str, Any] = {"__init__": _init(cls, made_of, frozen), "__repr__": _repr(names)}
        if eq:
            values = attrgetter(*names) if names else lambda self: ()
            methods["__eq__"] = _eq(values)
            methods["__hash__"] = _hash(values) if frozen else None
            methods["__reduce__"] = lambda self: (_restored, (self.__class__, [getattr(self, n) for n in names]))
        if frozen:
            methods["__setattr__"], methods["__delattr__"] = _refuse_to_set, _refuse_to_delete
        for name, method in methods.items():
            if name not in cls.__dict__ or cls.__dict__[name] is None:
                setattr(cls, name, method)
        cls.__made_of__ = made_of
        cls.__dataclass_fields__ = _Fields()
        cls.__match_args__ = tuple(name for name, each in made_of.items() if each.init)
        return cls

    def _slotted(cls: type, own: dict[str, _Field]) -> type:
        space = {name: value for name, value in cls.__dict__.items() if name not in own and name not in _PLAIN}
        space["__slots__"] = tuple(own)
        made = type(cls)(cls.__name__, cls.__bases__, space)
        made.__qualname__ = cls.__qualname__
        return made

    def _init(cls: type, made_of: dict[str, _Field], frozen: bool) -> Any:
        """Takes its own place once it is called."""

        def __init__(self: Any, *given: Any, **named: Any) -> None:
            compiled = _compiled(cls, made_of, frozen)
            if cls.__dict__["__init__"] is __init__:
                cls.__init__ = compiled
            compiled(self, *given, **named)

        __init__.__qualname__ = f"{cls.__qualname__}.__init__"
        __init__.__module__ = cls.__module__
        return __init__

    def _compiled(cls: type, made_of: dict[str, _Field], frozen: bool) -> Any:
        """The one that runs ten thousand times."""
        given, body, known = [], [], {"_NONE": _NONE}
        for name, each in made_of.items():
            if each.factory is not _NONE:
                known[f"_make_{name}"] = each.factory
                value = f"_make_{name}()" + (f" if {name} is _NONE else {name}" if each.init else "")
                given += [f"{name}=_NONE"] if each.init else []
            elif not each.init:
                continue
            elif each.default is not _NONE:
                known[f"_else_{name}"] = each.default
                value = name
                given.append(f"{name}=_else_{name}")
            else:
                value = name
                given.append(name)
            if frozen:
                slot = getattr(cls, name, None)
                known[f"_set_{name}"] = getattr(slot, "__set__", None) or _setter(name)
                body.append(f"_set_{name}(self, {value})")
            else:
                body.append(f"self.{name} = {value}")
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        text = f"def __init__({', '.join(['self', *given])}):\n " + "\n ".join(body or ["pass"])
        exec(compile(text, f"<{cls.__qualname__}>", "exec"), known)
        init = known["__init__"]
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        init.__module__ = cls.__module__
        return init

    def _setter(name: str) -> Any:
        return lambda self, value: object.__setattr__(self, name, value)

    def _repr(names: tuple[str, ...]) -> Any:
        def __repr__(self: Any) -> str:
            said = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            return f"{type(self).__qualname__}({said})"

        return __repr__

    def _eq(values: Any) -> Any:
        def __eq__(self: Any, other: Any) -> Any:
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        return __eq__

    def _hash(values: Any) -> Any:
        def __hash__(self: Any) -> int:
            return hash(values(self))

        return __hash__

    def _restored(cls: type, values: list[Any]) -> Any:
        """What was copied or pickled."""
        made = object.__new__(cls)
        for name, value in zip(cls.__made_of__, values, strict=True):
            object.__setattr__(made, name, value)
        return made

    def _refuse_to_set(self: Any, name: str, value: Any) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self: Any, name: str) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    class _Tuples(type):
        """Makes tuples of what says that it is a `NamedTuple`."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
            kinds = space.get("__annotations__", {})
            defaults = [space.pop(each) for each in kinds if each in space]
            made = namedtuple(name, kinds, defaults=defaults, module=space["__module__"])
            made.__annotations__ = kinds
            for each, value in space.items():
                if each not in _PLAIN and each != "__annotations__":
                    setattr(made, each, value)
            return made

    NamedTuple = type.__new__(_Tuples, "NamedTuple", (), {})
    """To be named as the only base of a class."""

    class _Fields:
        """What makes the standard library take a class for one of its own; made when it looks."""

        def __get__(self, value: Any, cls: type) -> dict[str, Any]:
            import dataclasses

            found = {}
            for name, each in cls.__made_of__.items():
                made = dataclasses.field(init=each.init)
                if each.default is not _NONE:
                    made.default = each.default
                if each.factory is not _NONE:
                    made.default_factory = each.factory
                made.name, made.type, made._field_type = name, each.kind, dataclasses._FIELD
                found[name] = made
            return found
