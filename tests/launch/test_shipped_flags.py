from __future__ import annotations

import os
from pathlib import Path

from launch.captured import VERSIONS, table_of

from mtpdoctor.launch import parse, refusals, shipped, split, table
from mtpdoctor.launch.shipped import FILE, union

OTHERS = Path(__file__).with_name("flags_of_other_builds.txt")


def test_the_table_that_ships_is_the_union_of_what_the_captured_servers_list() -> None:
    tables = [table_of(version) for version in VERSIONS]
    text = union((*tables, table(OTHERS.read_text("utf-8"), "other builds")))
    if os.environ.get("MTPDOCTOR_UPDATE"):
        FILE.write_text(text, "utf-8")

    assert FILE.read_text("utf-8") == text, "stale: run this test with MTPDOCTOR_UPDATE=1"


def test_every_flag_of_a_captured_server_has_the_same_meaning_in_the_table_that_ships() -> None:
    for version in VERSIONS:
        for flag in table_of(version).flags:
            for name in (*flag.names, *flag.negations):
                row = shipped().find(name)

                assert row is not None, name
                assert row.arity == flag.arity, name
                assert shipped().negates(name) == table_of(version).negates(name), name


def test_the_table_that_ships_says_of_no_flag_that_it_is_unknown_or_gone() -> None:
    command = split(("llama-server", "-m", "a", "--draft-max", "4", "--bogus", "-fa", "-np", "1"))

    assert not shipped().asked
    assert refusals(parse(command, shipped())) == ()


def test_flash_attention_of_an_older_build_stands_without_a_value_in_the_table_that_ships() -> None:
    launch = parse(split(("llama-server", "-m", "a", "-fa", "-ngl", "99")), shipped())

    assert [(o.spelled, o.values) for o in launch.options] == [
        ("-m", ("a",)),
        ("-fa", ()),
        ("-ngl", ("99",)),
    ]
