"""Our `dataclass` does what the standard one does, as far as it is used here."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from hermes_tui import values


@values.dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = ()

    kind: ClassVar[str] = "point"

    @property
    def sum(self) -> int:
        return self.x + self.y


@values.dataclass(slots=True)
class Bag:
    items: list[int] = values.field(default_factory=list)
    size: int = values.field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.items)


@values.dataclass
class Base:
    a: int


@values.dataclass
class Derived(Base):
    b: int = 3


@values.dataclass(frozen=True, slots=True, eq=False)
class Unlike:
    a: int = 0


@dataclasses.dataclass(frozen=True)
class Theirs:
    a: int


def test_values_are_equal_by_what_they_hold() -> None:
    assert Point(1) == Point(1, 2, ())
    assert Point(1) != Point(2)
    assert Point(1) != (1, 2, ())
    assert len({Point(1), Point(1), Point(1, 3)}) == 2
    assert Unlike() != Unlike()


def test_they_say_what_they_hold() -> None:
    assert repr(Point(1, tags=("a",))) == "Point(x=1, y=2, tags=('a',))"
    assert Point(1).sum == 3
    assert Point.kind == "point"
    assert Point.__doc__ == "A place."


def test_a_frozen_one_refuses_change() -> None:
    point: Any = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
        point.x = 4
    with pytest.raises(dataclasses.FrozenInstanceError, match="'x'"):
        del point.x
    assert point == Point(1)


def test_slots_take_nothing_else() -> None:
    bag: Any = Bag()
    with pytest.raises(AttributeError):
        bag.other = 1
    assert not hasattr(Point(1), "__dict__")


def test_wrong_arguments_are_refused() -> None:
    point: Any = Point
    for arguments in ((), (1, 2, 3, 4)):
        with pytest.raises(TypeError):
            point(*arguments)
    with pytest.raises(TypeError):
        point(1, z=3)


def test_each_has_a_list_of_its_own() -> None:
    one, other = Bag(), Bag()
    one.items.append(1)
    assert other.items == []
    assert (one.size, Bag([1, 2]).size) == (0, 2)
    with pytest.raises(TypeError):
        hash(one)


def test_fields_of_a_base_come_first() -> None:
    assert Derived(1) == Derived(1, 3)
    assert [each.name for each in dataclasses.fields(Derived)] == ["a", "b"]


@pytest.mark.parametrize("replace", [values.replace, dataclasses.replace])
def test_replacing(replace: Any) -> None:
    assert replace(Point(1), y=5) == Point(1, 5)
    assert replace(Bag([1]), items=[1, 2]).size == 2
    with pytest.raises(TypeError):
        replace(Point(1), z=5)


def test_one_of_the_standard_library_is_replaced_as_well() -> None:
    assert values.replace(Theirs(1), a=2) == Theirs(2)


def test_the_standard_library_takes_them_for_its_own() -> None:
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "tags": ()}
    assert [(each.name, each.type, each.default) for each in dataclasses.fields(Point)][1] == ("y", "int", 2)
    assert dataclasses.fields(Bag)[0].default_factory is list


def test_copies_and_patterns() -> None:
    assert copy.copy(Point(1)) == copy.deepcopy(Point(1)) == pickle.loads(pickle.dumps(Point(1))) == Point(1)
    match Point(1, 7):
        case Point(x, y):
            assert (x, y) == (1, 7)


class Pair(values.NamedTuple):
    """Two."""

    left: int
    right: str = "r"
    """A default."""

    @property
    def both(self) -> str:
        return f"{self.left}{self.right}"


def test_a_tuple_has_names_defaults_and_methods() -> None:
    pair = Pair(1)
    assert pair == (1, "r")
    assert pair == Pair(left=1, right="r")
    assert pair.both == "1r"
    assert repr(pair) == "Pair(left=1, right='r')"
    assert pair._replace(right="x") == (1, "x")
    assert (Pair.__doc__, Pair._fields, Pair.__module__) == ("Two.", ("left", "right"), __name__)
    assert not hasattr(pair, "__dict__")
    assert copy.copy(pair) == pickle.loads(pickle.dumps(pair)) == pair
    assert isinstance(pickle.loads(pickle.dumps(pair)), Pair)
    with pytest.raises(TypeError, match="left"):
        Pair()  # type: ignore[call-arg]  # that is the mistake


def test_what_makes_an_instance_is_compiled_with_the_first() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Late:
        a: int
        b: int = 2

    before = Late.__init__
    assert (Late(1), Late(1, b=3).b) == (Late(a=1, b=2), 3)
    assert Late.__init__ is not before
    before(fresh := Late.__new__(Late), 1)
    assert fresh == Late(1)
    with pytest.raises(TypeError, match="a"):
        Late()  # type: ignore[call-arg]  # that is the mistake
