from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from launch.captured import launch_of, table_of

from mtpdoctor.facts import Launch
from mtpdoctor.launch import parse, split
from mtpdoctor.launch.words import PRINTS

WORDS = st.lists(
    st.one_of(
        st.sampled_from(sorted(set(table_of().names) - PRINTS.keys())),
        st.sampled_from(
            ["on", "auto", "4", "-1", "draft-mtp", "x.gguf", "--", "-", "", "--no_mmap"]
        ),
        st.text(max_size=8).filter(lambda text: "\0" not in text),
    ),
    max_size=12,
)


def of(*words: str, **environment: str) -> Launch:
    return launch_of("llama-server", "-m", "x", *words, **environment)


def read(launch: Launch) -> list[tuple[str, tuple[str, ...]]]:
    return [(option.spelled, option.values) for option in launch.options if option.spelled != "-m"]


def test_a_value_may_start_with_a_dash() -> None:
    assert read(of("-c", "-1", "--keep", "-1")) == [("-c", ("-1",)), ("--keep", ("-1",))]
    assert of("-r", "-np", "-c", "4").value("-r") == "-np"


def test_two_values_are_taken_where_the_flag_has_two() -> None:
    launch = of("--control-vector-layer-range", "1", "2", "-c", "4")

    assert launch.uses("--control-vector-layer-range")[0].values == ("1", "2")
    assert launch.value("-c") == "4"


def test_any_spelling_finds_the_use_of_another() -> None:
    launch = of("-md", "d.gguf", "--ctx_size", "4")

    assert launch.value("--spec-draft-model") == "d.gguf"
    assert launch.value("-c") == "4"
    assert launch.uses("-c")[0].spelled == "--ctx_size"


def test_a_flag_in_place_of_a_value_that_cannot_be_one_leaves_the_value_missing() -> None:
    assert read(of("-fa", "-ngl", "99")) == [("-fa", ()), ("-ngl", ("99",))]
    assert read(of("-c", "--mmap")) == [("-c", ()), ("--mmap", ())]


def test_the_last_of_a_repeated_flag_counts_and_an_appending_one_keeps_all() -> None:
    launch = of("-c", "1", "-c", "2", "--spec-type", "ngram-mod", "--spec-type", "draft-mtp,none")

    assert launch.value("-c") == "2"
    assert launch.all_values("--spec-type") == ("ngram-mod", "draft-mtp", "none")


def test_an_unknown_flag_takes_the_words_up_to_the_next_flag_with_it() -> None:
    launch = of("--bogus", "4", "-1", "-np", "1")

    assert read(launch) == [("--bogus", ("4", "-1")), ("-np", ("1",))]
    assert launch.stray == ()
    assert launch.uses("--bogus")[0].flag is None


def test_a_joined_value_is_known_as_such() -> None:
    option = of("--ctx-size=4", "--bogus=-5").options[1]
    bogus = of("--ctx-size=4", "--bogus=-5").options[2]

    assert (option.spelled, option.values, option.joined, option.width) == (
        "--ctx-size",
        ("4",),
        True,
        1,
    )
    assert option.flag is table_of().find("-c")
    assert (bogus.spelled, bogus.values, bogus.flag) == ("--bogus", ("-5",), None)


def test_words_of_no_flag_are_stray() -> None:
    assert of("-np", "1", "2", "-", "").stray == ((5, "2"), (6, "-"), (7, ""))


def test_a_switch_is_on_off_or_not_said() -> None:
    assert of("--mmap", "--no-mmap").enabled("--mmap") is False
    assert of("-kvo").enabled("--kv-offload") is True
    assert of().enabled("--mmap") is None


def test_the_environment_stands_before_the_words() -> None:
    launch = of("-c", "4", LLAMA_ARG_CTX_SIZE="8", LLAMA_ARG_SPEC_TYPE="draft-mtp")

    assert launch.value("-c") == "4"
    assert launch.all_values("--spec-type") == ("draft-mtp",)
    assert launch.uses("--spec-type")[0].env == "LLAMA_ARG_SPEC_TYPE"


def test_a_negative_variable_switches_off_whatever_its_value_and_wins() -> None:
    launch = of(LLAMA_ARG_NO_MMAP="0", LLAMA_ARG_MMAP="1")

    assert launch.enabled("--mmap") is False
    assert [option.env for option in launch.uses("--mmap")] == ["LLAMA_ARG_NO_MMAP"]


def test_a_variable_of_a_plain_switch_counts_only_when_it_says_on() -> None:
    assert of(LLAMA_ARG_CPU_MOE="1").has("--cpu-moe")
    assert not of(LLAMA_ARG_CPU_MOE="0").has("--cpu-moe")
    assert not of(LLAMA_ARG_CPU_MOE="yes").has("--cpu-moe")


def test_a_variable_that_no_flag_names_is_no_option() -> None:
    assert read(of(LLAMA_ARG_BOGUS="1")) == []


@given(WORDS)
def test_reading_changes_no_word_and_gives_each_to_one_option_or_to_none(words: list[str]) -> None:
    launch = of(*words)
    places = [at for option in launch.options for at in range(option.at, option.at + option.width)]
    places += [at for at, _ in launch.stray]

    assert launch.words == ("llama-server", "-m", "x", *words)
    assert sorted(places) == list(range(1, len(launch.words)))


@given(WORDS)
def test_reading_what_was_read_gives_the_same(words: list[str]) -> None:
    launch = of(*words)
    again = parse(split(launch.words), table_of())

    assert again.options == launch.options
    assert again.stray == launch.stray
