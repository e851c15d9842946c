"""TOML read as dataclasses: strict, and with every mistake at its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor import tables
from mtpdoctor.builds import Build
from mtpdoctor.facts import Unknown
from mtpdoctor.tables import TableError


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    name: str
    size: int = 0

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"a leaf cannot have size {self.size}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    leaf: tuple[Leaf, ...] = ()
    tags: frozenset[str] = frozenset()
    colour: Colour = Colour.RED
    side: Literal["left", "right"] = "left"
    kind: Literal[1] = 1
    build: Build | None = None
    height: float = 0.0
    wide: bool = False
    planted: date | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    known: str | Unknown = ""
    anything: Any = None
    rings: int = field(default=0, init=False)


def mistakes(text: str) -> list[str]:
    with pytest.raises(TableError) as caught:
        tables.loads(text, Tree)
    return caught.value.mistakes


def test_a_table_becomes_a_value() -> None:
    text = """
        tags = ["a", "b"]
        colour = "blue"
        side = "right"
        build = "b9551"
        height = 1.5
        wide = true
        planted = 2026-12-01
        known = "yes"
        anything = [1, {a = 2}]
        counts = {oak = 2}
        leaf = [{name = "x"}, {name = "y", size = 3}]
    """

    assert tables.loads(text, Tree) == Tree(
        tags=frozenset({"a", "b"}),
        colour=Colour.BLUE,
        side="right",
        build=Build(9551),
        height=1.5,
        wide=True,
        planted=date(2026, 12, 1),
        known="yes",
        anything=[1, {"a": 2}],
        counts={"oak": 2},
        leaf=(Leaf(name="x"), Leaf(name="y", size=3)),
    )


def test_an_empty_table_has_the_defaults() -> None:
    assert tables.loads("", Tree) == Tree()


def test_every_mistake_is_named_at_its_place() -> None:
    text = """
        hight = 1.5
        build = "9x"
        colour = "green"
        side = "middle"
        leaf = [{size = 1}, {name = "y", size = -1}, {name = 3, sise = 1}, "z"]
        counts = {oak = "two"}
    """

    assert mistakes(text) == [
        "top level: unknown key 'hight'",
        "build: not a build number: '9x' (expected e.g. 'b6123')",
        "colour: expected one of 'red', 'blue', got 'green'",
        "side: expected one of 'left', 'right', got 'middle'",
        "leaf[0]: missing key 'name'",
        "leaf[1]: a leaf cannot have size -1",
        "leaf[2]: unknown key 'sise'",
        "leaf[2].name: expected str, got 3",
        "leaf[3]: expected a table, got 'z'",
        "counts.oak: expected int, got 'two'",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('tags = "ab"', "tags: expected an array, got 'ab'"),
        ("tags = {a = 1}", "tags: expected an array, got a table"),
        ("leaf = {name = 'x'}", "leaf: expected an array, got a table"),
        ("build = 9551", "build: expected a string, got 9551"),
        ("build = ['b1']", "build: expected a string, got an array"),
        ("wide = 1", "wide: expected bool, got 1"),
        ("kind = true", "kind: expected one of 1, got True"),
        ("height = true", "height: expected float, got True"),
        ("planted = 2026-12-01T00:00:00", "planted: expected date, got "),
        ("counts = [1]", "counts: expected a table, got an array"),
        ("colour = ['red']", "colour: expected one of 'red', 'blue', got an array"),
        ("rings = 1", "top level: unknown key 'rings'"),
    ],
)
def test_nothing_is_taken_for_what_it_is_not(text: str, says: str) -> None:
    [mistake] = mistakes(text)

    assert mistake.startswith(says)


def test_a_whole_number_will_do_where_a_float_is_due() -> None:
    height = tables.loads("height = 2", Tree).height

    assert (height, type(height)) == (2.0, float)


@pytest.mark.parametrize(
    "text",
    [
        "height = ",
        "= 1",
        "[[leaf]\n",
        "wide = " + "9" * 5000,
        "anything = " + "[" * 5000 + "]" * 5000,
        "height = " + "9" * 400,
    ],
)
def test_what_cannot_be_read_is_a_mistake_too(text: str) -> None:
    assert len(mistakes(text)) == 1


@pytest.mark.parametrize(
    "text", ['side = "' + "x" * 5000 + '"', "wide = " + "9" * 4000, '"' + "k" * 5000 + '" = 1']
)
def test_a_message_repeats_no_more_of_a_value_than_it_needs(text: str) -> None:
    assert all(len(mistake) < 200 for mistake in mistakes(text))


def test_a_message_holds_nothing_that_moves_a_terminal() -> None:
    text = 'side = "\\u001b[2J\\u202e"\n"\\u001b[H" = 1'

    assert all(mistake.isprintable() for mistake in mistakes(text))


def test_a_value_that_is_no_table_is_named_by_where_it_stands() -> None:
    with pytest.raises(TableError, match=r"^top level: expected a table, got 3$"):
        tables.build(3, Tree)
    with pytest.raises(TableError, match=r"^facts\.tree: expected a table, got 3$"):
        tables.build(3, Tree, at="facts.tree")


def test_a_table_of_numbers_at_the_top_is_named_by_its_keys() -> None:
    with pytest.raises(TableError, match=r"^oak: expected int, got 'x'$"):
        tables.build({"oak": "x"}, Mapping[str, int])  # type: ignore[type-abstract]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([*Tree.__slots__, "other"])


def read(raw: object) -> Tree | list[str]:
    try:
        return tables.loads(raw, Tree) if isinstance(raw, str) else tables.build(raw, Tree)
    except TableError as error:
        return error.mistakes


@given(st.dictionaries(KEYS, VALUES))
def test_any_table_is_a_value_or_a_list_of_mistakes(raw: dict[str, object]) -> None:
    match read(raw):
        case Tree() as tree:
            assert isinstance(tree.tags, frozenset)
            assert all(isinstance(leaf, Leaf) for leaf in tree.leaf)
        case mistakes:
            assert mistakes
            assert all(": " in mistake for mistake in mistakes)


@given(st.text())
def test_any_text_is_a_value_or_a_list_of_mistakes(text: str) -> None:
    assert read(text)
