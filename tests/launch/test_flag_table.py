from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from launch.captured import VERSIONS, help_of, table_of

from mtpdoctor.facts import Flag
from mtpdoctor.launch import table


def row(name: str, version: str = VERSIONS[0]) -> Flag:
    flag = table_of(version).find(name)
    assert flag is not None, name
    return flag


@pytest.mark.parametrize("version", VERSIONS)
def test_every_line_that_starts_a_row_becomes_a_flag_and_nothing_else_does(version: str) -> None:
    starts = [
        line for line in help_of(version).splitlines() if line.startswith("-") and line[:3] != "---"
    ]

    assert len(table_of(version).flags) == len(starts)


def test_spellings_after_the_last_positive_one_are_negations() -> None:
    assert row("-nkvo").names == ("-kvo", "--kv-offload")
    assert row("-nkvo").negations == ("-nkvo", "--no-kv-offload")
    assert row("--no-mmproj").negations == ("--no-mmproj", "--no-mmproj-auto")
    assert row("-nr").names == ("--repack",)
    assert table_of().negates("--no_mmap")
    assert not table_of().negates("--no-host")


def test_an_enumeration_in_brackets_does_not_make_the_value_optional() -> None:
    """Measured: ``llama-server -fa`` ends in "expected value for argument"."""
    flag = row("-fa")

    assert (flag.arity, flag.optional) == (1, False)
    assert {"on", "off", "auto", "1", "true", "enabled"} <= flag.values


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("--rope-scaling", {"none", "linear", "yarn"}),
        ("-sm", {"none", "layer", "row", "tensor"}),
        ("-ctv", {"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"}),
        ("-ts", set()),
        ("-dev", set()),
        ("--tools", set()),
        ("--cpu-strict", set()),
    ],
)
def test_allowed_values_are_read_and_placeholders_are_none(name: str, values: set[str]) -> None:
    assert row(name).values == values


def test_the_values_of_spec_type_are_those_of_each_server() -> None:
    assert "draft-mtp" in row("--spec-type", "0.10068.0").values
    assert "draft-dspark" not in row("--spec-type", "0.10068.0").values
    assert "draft-dspark" in row("--spec-type", "0.10434.0").values
    assert row("--spec-type").appends


@pytest.mark.parametrize(
    ("name", "arity"),
    [
        ("--control-vector-layer-range", 2),
        ("-ot", 1),
        ("-dr", 1),
        ("--spec-default", 0),
        ("-hf", 1),
    ],
)
def test_a_flag_takes_as_many_words_as_its_placeholder_has(name: str, arity: int) -> None:
    assert row(name).arity == arity


def test_a_removed_flag_keeps_the_note_and_is_not_accepted() -> None:
    note = "the argument has been removed. use --spec-draft-n-max or --spec-ngram-mod-n-max"

    assert row("--draft").removed == note
    assert not table_of().accepts("--draft-max")
    assert row("--draft-max").env == ("LLAMA_ARG_DRAFT_MAX",)


def test_a_deprecated_flag_is_accepted() -> None:
    assert table_of().accepts("--mlock")
    assert table_of().accepts("-dt")


def test_flags_named_in_descriptions_are_no_rows() -> None:
    assert table_of().find("--spec-ngram-*-size-n") is None
    assert table_of().find("--list-devices") is not None
    assert row("-hf").names == ("-hf", "-hfr", "--hf-repo")


def test_the_switch_of_an_older_build_takes_no_value() -> None:
    older = table(
        "-fa,   --flash-attn                     enable Flash Attention (default: disabled)\n"
        "                                        (env: LLAMA_ARG_FLASH_ATTN)\n"
        "-nkvo, --no-kv-offload                  disable KV offload\n"
        "--spec-type [none|ngram-cache|ngram-simple]\n"
        "                                        type of speculative decoding\n",
        "an older build",
    )
    flags = {flag.name: flag for flag in older.flags}

    assert flags["--flash-attn"].arity == 0
    assert flags["--flash-attn"].env == ("LLAMA_ARG_FLASH_ATTN",)
    assert flags["--no-kv-offload"].negations == ()
    assert flags["--spec-type"].values == {"none", "ngram-cache", "ngram-simple"}


def test_indented_rows_of_another_age_are_read() -> None:
    flags = table(
        "  -m,    --model FNAME            model path\n  --draft N   tokens\n", "fork"
    ).flags

    assert [(flag.names, flag.arity) for flag in flags] == [
        (("-m", "--model"), 1),
        (("--draft",), 1),
    ]


def test_control_characters_of_a_note_do_not_reach_a_message() -> None:
    flag = table("--x N    the argument has been removed.\x1b[31m\x07 use --y", "evil").flags[0]

    assert flag.removed == "the argument has been removed. [31m use --y"


@given(st.text(max_size=2000))
def test_any_text_gives_a_table(text: str) -> None:
    assert table(text, "noise").source == "noise"


@given(st.lists(st.sampled_from(help_of(VERSIONS[0]).splitlines()), max_size=40))
def test_any_order_of_the_lines_of_a_help_gives_well_formed_flags(lines: list[str]) -> None:
    for flag in table("\n".join(lines), "shuffled").flags:
        assert flag.names
        assert not {*flag.names} & {*flag.negations}
        assert all(name.startswith("-") for name in (*flag.names, *flag.negations))
