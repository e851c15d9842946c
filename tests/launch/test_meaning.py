from __future__ import annotations

import pytest
from launch.captured import launch_of, table_of

from mtpdoctor.facts import Launch
from mtpdoctor.launch import (
    cache_type,
    draft_cache_type,
    draft_n_max,
    flash_attention,
    mended,
    parse,
    real_number,
    shipped,
    speculative_types,
    split,
    suggest,
    table,
    wants_mtp,
    whole_number,
)

SWITCH = table("-fa,   --flash-attn                     enable Flash Attention\n", "an older build")


def of(*words: str, **environment: str) -> Launch:
    return launch_of("llama-server", "-m", "x", *words, **environment)


def test_the_types_of_every_use_count_and_none_undoes_no_other_use() -> None:
    launch = of("--spec-type", "draft-mtp", "--spec-type", "none", LLAMA_ARG_SPEC_TYPE="ngram-mod")

    assert speculative_types(launch) == ("ngram-mod", "draft-mtp")
    assert wants_mtp(launch)


@pytest.mark.parametrize("listed", ["none,draft-mtp", "draft-mtp,none"])
def test_none_undoes_the_list_that_it_stands_in(listed: str) -> None:
    assert speculative_types(of("--spec-type", listed)) == ()


def test_without_a_type_nothing_is_asked_for() -> None:
    assert speculative_types(of("-md", "d")) == ()
    assert not wants_mtp(of("-md", "d", "--spec-type", "none"))
    assert speculative_types(of("--spec-default")) == ("ngram-mod",)


def test_the_word_of_forks_asks_for_mtp_too() -> None:
    assert wants_mtp(of("--spec-type", "mtp"))


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        ((), "auto"),
        (("-fa", "on"), "on"),
        (("-fa", "1"), "on"),
        (("-fa", "false"), "off"),
        (("--flash_attn", "-1"), "auto"),
        (("-fa", "on", "-fa", "off"), "off"),
        (("-fa", "maybe"), "auto"),
        (("-fa", "-np", "1"), "auto"),
        (("-fa=off",), "off"),
    ],
)
def test_flash_attention_is_what_the_server_takes_it_for(
    words: tuple[str, ...], setting: str
) -> None:
    assert flash_attention(of(*words)) == setting


def test_flash_attention_of_the_environment_counts_below_the_words() -> None:
    assert flash_attention(of(LLAMA_ARG_FLASH_ATTN="off")) == "off"
    assert flash_attention(of("-fa", "on", LLAMA_ARG_FLASH_ATTN="off")) == "on"


def test_flash_attention_as_a_switch_is_off_without_it() -> None:
    def setting(*words: str) -> str:
        return flash_attention(parse(split(("llama-server", "-m", "x", *words)), SWITCH))

    assert (setting(), setting("-fa")) == ("off", "on")


def test_flash_attention_without_a_value_is_on_where_the_server_is_unknown() -> None:
    assert flash_attention(parse(split(("llama-server", "-m", "x", "-fa")), shipped())) == "on"


def test_cache_types_are_those_of_the_target() -> None:
    launch = of("-ctk", "q8_0", "-ctvd", "q4_0")

    assert (cache_type(launch, "k"), cache_type(launch, "v")) == ("q8_0", "f16")


def test_the_draft_depth_is_read_as_the_server_reads_it() -> None:
    assert draft_n_max(of("--spec-draft-n-max", "4x")) == 4
    assert draft_n_max(of("--draft", "5")) == 5
    assert draft_n_max(of()) is None


@pytest.mark.parametrize(
    ("text", "number"), [("2k", 2), (" -1", -1), ("+3", 3), ("x", None), ("", None)]
)
def test_leading_digits_are_a_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.0x", 1.0), ("1,5", 1.0), (" .5", 0.5), ("1e0", 1.0), ("0x1.8p1", 3.0), ("x", None)],
)
def test_the_start_of_a_word_is_a_number(text: str, number: float | None) -> None:
    assert real_number(text) == number


def test_the_drafters_cache_has_types_of_its_own() -> None:
    launch = of("-ctvd", "q8_0", "-ctk", "q4_0")

    assert (draft_cache_type(launch, "k"), draft_cache_type(launch, "v")) == ("f16", "q8_0")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("--draft-max", "--spec-draft-n-max"),
        ("--draft-min", "--spec-draft-n-min"),
        ("--spec-ngram-size-n", ""),
        ("--spec-draft-max", "--spec-draft-n-max"),
        ("--spec-draft-nmax", "--spec-draft-n-max"),
        ("--spec_typ", "--spec-type"),
        ("--ctx-sise=4", "--ctx-size"),
        ("--ngl", "-ngl"),
        ("-ngl99", "-ngl"),
        ("-flash-attn", "--flash-attn"),
        ("--Flash-Attn", "--flash-attn"),
        ("--bogus-flag", ""),
        ("--mtp-head", ""),
        ("--mtp", ""),
        ("-x", ""),
        ("", ""),
        ("--", ""),
    ],
)
def test_the_flag_that_was_probably_meant_is_suggested(name: str, meant: str) -> None:
    assert suggest(name, table_of()) == meant


@pytest.mark.parametrize(
    ("words", "flag", "value"),
    [
        ("-ngl99", "-ngl", "99"),
        ("-t4", "-t", "4"),
        ("--spec-draft-nmax 4", "--spec-draft-n-max", "4"),
        ("--spec_draft_nmax 4", "--spec-draft-n-max", "4"),
        ("--spec_typ draft-mtp", "--spec-type", "draft-mtp"),
        ("--ngl 5", "-ngl", "5"),
        ("-NGL 5", "-ngl", "5"),
        ("--spec-drfat-n-max 4", "--spec-draft-n-max", "4"),
        ("--parallell 2", "--parallel", "2"),
        ("--nommap", "--no-mmap", None),
    ],
)
def test_a_slip_of_the_pen_is_mended(words: str, flag: str, value: str | None) -> None:
    option = of(*words.split()).options[-1]
    meant = mended(option, table_of())

    assert meant is not None
    assert (meant.flag, meant.value, meant.replaces) == (flag, value, option.spelled)


@pytest.mark.parametrize(
    "words",
    [
        "--spec-draft 4",
        "--mcp-headers x",
        "--ctx-sise 4",
        "--parallell",
        "--parallell 2 3",
        "--no-mmapp on",
        "--cache-type-kv q8_0",
        "--C 5",
        "-ngl99 5",
        "--mlock7",
        "--spec-typ layer",
        "--draft-maxx 4",
    ],
)
def test_what_could_be_anything_is_not_mended(words: str) -> None:
    assert mended(of(*words.split()).options[-1], table_of()) is None
