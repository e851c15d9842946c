"""Plugins: found, prefixed, and never able to stop the others."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from mtpdoctor import registry
from mtpdoctor.checks import check
from mtpdoctor.facts import Host
from mtpdoctor.findings import Finding


def make(id: str, *after: str) -> Any:
    @check(id, "a check", after=after)
    def body(host: Host) -> Iterator[Finding]:
        yield from ()

    return body


@pytest.fixture
def plugin() -> Iterator[Any]:
    """A module that entry points can name, taken out again afterwards."""
    made = []

    def install(name: str, **values: Any) -> EntryPoint:
        module = types.ModuleType(f"plugin_{name}")
        vars(module).update(values)
        sys.modules[module.__name__] = module
        made.append(module.__name__)
        return EntryPoint(name, f"{module.__name__}:CHECKS", registry.GROUP)

    yield install
    for name in made:
        del sys.modules[name]


def test_foreign_ids_are_prefixed_and_ours_are_not(plugin: Any) -> None:
    ours = plugin("mtpdoctor", CHECKS=[make("one")])
    theirs = plugin("acme", CHECKS=[make("one")])

    assert set(registry.load([theirs, ours]).checks) == {"one", "acme/one"}


def test_a_plugin_that_raises_is_named_and_the_others_load(plugin: Any) -> None:
    missing = EntryPoint("broken", "no_such_module_at_all:CHECKS", registry.GROUP)

    loaded = registry.load([missing, plugin("acme", CHECKS=[make("fine")])])

    assert list(loaded.checks) == ["acme/fine"]
    assert [(b.plugin, "no_such_module_at_all" in b.reason) for b in loaded.broken] == [
        ("broken", True)
    ]


def test_a_value_that_is_no_check_breaks_its_plugin(plugin: Any) -> None:
    loaded = registry.load([plugin("acme", CHECKS=[print])])

    assert "use the @check decorator" in loaded.broken[0].reason


def test_checks_that_wait_for_each_other_break_their_plugin(plugin: Any) -> None:
    loaded = registry.load([plugin("acme", CHECKS=[make("a", "b"), make("b", "a")])])

    assert not loaded.checks
    assert "wait for each other" in loaded.broken[0].reason


def test_two_checks_of_one_name_break_their_plugin(plugin: Any) -> None:
    loaded = registry.load([plugin("acme", CHECKS=[make("a"), make("a")])])

    assert "two checks are called 'a'" in loaded.broken[0].reason


def test_an_untyped_parameter_is_refused_when_the_check_is_made() -> None:
    with pytest.raises(TypeError, match="has no type"):

        @check("untyped", "x")
        def untyped(host) -> Iterator[Finding]:  # type: ignore[no-untyped-def]  # noqa: ANN001
            yield from ()


def test_an_id_names_the_problem_in_lower_case_with_dashes() -> None:
    with pytest.raises(ValueError, match="lower-case-with-dashes"):
        check("Bad_Id", "x")


def test_a_plugin_that_exits_when_it_is_loaded_is_broken(tmp_path: Path) -> None:
    (tmp_path / "rude_plugin.py").write_text("raise SystemExit(0)")
    sys.path.insert(0, str(tmp_path))
    try:
        loaded = registry.load([EntryPoint("rude", "rude_plugin:CHECKS", registry.GROUP)])
    finally:
        sys.path.remove(str(tmp_path))

    assert [broken.plugin for broken in loaded.broken] == ["rude"]


def test_a_check_that_waits_for_none_breaks_its_plugin(plugin: Any) -> None:
    loaded = registry.load([plugin("acme", CHECKS=[make("a", "no-such-check")])])

    assert "'no-such-check', which is no check" in loaded.broken[0].reason
