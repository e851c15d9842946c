from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from launch.captured import launch_of, table_of

from mtpdoctor.facts import Flag, Launch
from mtpdoctor.findings import Advice, DropFlag, SetFlag, Upgrade
from mtpdoctor.launch import (
    accepted_spelling,
    apply,
    environment_for,
    parse,
    plain,
    shipped,
    speculative_types,
    split,
    table,
    with_flags,
    without,
)
from mtpdoctor.launch.words import PRINTS

OLDER = table(
    "-m,    --model FNAME                    model path\n"
    "-fa,   --flash-attn                     enable Flash Attention\n"
    "--draft, --draft-n, --draft-max N       tokens to draft\n"
    "-md,   --model-draft FNAME              draft model\n",
    "an older build",
)


def of(*words: str, **environment: str) -> Launch:
    return launch_of("llama-server", "-m", "x", *words, **environment)


def after(launch: Launch) -> tuple[str, ...]:
    """What follows ``llama-server -m x``."""
    assert launch.words[:3] == ("llama-server", "-m", "x")
    return launch.words[3:]


def test_a_value_is_replaced_where_it_stands_in_the_users_spelling() -> None:
    launch = apply(of("-ngl", "99", "--jinja"), [SetFlag("--n-gpu-layers", "50")])

    assert after(launch) == ("-ngl", "50", "--jinja")


def test_a_flag_that_is_not_there_comes_last() -> None:
    assert after(apply(of("-np", "1"), [SetFlag("--spec-type", "draft-mtp")])) == (
        "-np",
        "1",
        "--spec-type",
        "draft-mtp",
    )


def test_earlier_uses_go_when_a_flag_is_set() -> None:
    launch = apply(of("-fa", "on", "-np", "1", "--flash-attn", "off"), [SetFlag("-fa", "auto")])

    assert after(launch) == ("-np", "1", "--flash-attn", "auto")


def test_setting_a_flag_that_appends_leaves_its_new_value_alone() -> None:
    launch = of("--spec-type", "ngram-mod", "--spec-type", "none", LLAMA_ARG_SPEC_TYPE="ngram-mod")
    changed = apply(launch, [SetFlag("--spec-type", "draft-mtp")])

    assert speculative_types(changed) == ("draft-mtp",)
    assert changed.environment == {}


def test_a_missing_or_joined_value_is_mended_in_place() -> None:
    assert after(apply(of("-fa", "-np", "1"), [SetFlag("--flash-attn", "on")])) == (
        "-fa",
        "on",
        "-np",
        "1",
    )
    assert after(apply(of("--ctx-size=4", "--jinja"), [SetFlag("-c", "4")])) == (
        "--ctx-size",
        "4",
        "--jinja",
    )


def test_a_replaced_flag_gives_its_place_and_its_value() -> None:
    launch = of("--draft-max", "4", "--jinja", "--spec-draft-n-max", "2")
    fix = SetFlag("--spec-draft-n-max", replaces="--draft-max")

    assert after(apply(launch, [fix])) == ("--spec-draft-n-max", "4", "--jinja")


def test_a_replaced_unknown_flag_goes_with_its_values() -> None:
    launch = of("--spec-draft-max", "4", "--jinja")
    fix = SetFlag("--spec-draft-n-max", "4", replaces="--spec-draft-max")

    assert after(apply(launch, [fix])) == ("--spec-draft-n-max", "4", "--jinja")


def test_a_replaced_variable_goes_from_the_environment() -> None:
    fix = SetFlag("--spec-draft-n-max", replaces="--draft-max")
    launch = apply(of(LLAMA_ARG_DRAFT_MAX="4"), [fix])

    assert launch.environment == {}
    assert launch.value("--spec-draft-n-max") == "4"


def test_a_value_of_the_environment_alone_is_changed_there() -> None:
    launch = apply(of(LLAMA_ARG_FLASH_ATTN="off"), [SetFlag("--flash-attn", "auto")])

    assert launch.environment == {"LLAMA_ARG_FLASH_ATTN": "auto"}
    assert after(launch) == ()


def test_a_switch_takes_the_polarity_that_is_asked_for() -> None:
    assert after(apply(of("--mmap"), [SetFlag("--no-mmap")])) == ("--no-mmap",)
    assert after(apply(of("-nkvo"), [SetFlag("--no-kv-offload")])) == ("-nkvo",)
    assert apply(of(LLAMA_ARG_NO_MMAP="1"), [SetFlag("--mmap")]).enabled("--mmap") is True


def test_a_value_for_what_an_older_build_knows_as_a_switch_is_said_its_way() -> None:
    def set_(value: str, *words: str) -> tuple[str, ...]:
        launch = parse(split(("llama-server", "-m", "x", *words)), OLDER)
        return after(apply(launch, [SetFlag("--flash-attn", value)]))

    assert set_("on") == ("--flash-attn",)
    assert set_("off", "-fa") == ()


def test_an_older_build_gets_its_own_spelling() -> None:
    launch = parse(split(("llama-server", "-m", "x")), OLDER)
    fixes = [SetFlag("--spec-draft-model", "d"), SetFlag("--spec-draft-n-max", "4")]

    assert after(apply(launch, fixes)) == ("--model-draft", "d", "--draft-max", "4")
    assert accepted_spelling("--spec-draft-model", table_of()) == "--spec-draft-model"
    assert accepted_spelling("--draft-max", table_of()) == "--spec-draft-n-max"


def test_dropping_takes_every_use_and_every_variable() -> None:
    launch = of("-devd", "CUDA0", "--device-draft", "CUDA1", "--no-mmap", LLAMA_ARG_NO_MMAP="1")
    changed = apply(launch, [DropFlag("--spec-draft-device"), DropFlag("--mmap")])

    assert after(changed) == ()
    assert changed.environment == {}


def test_dropping_a_negative_variable_does_not_bring_back_the_positive_one() -> None:
    changed = without(of(LLAMA_ARG_NO_MMAP="1", LLAMA_ARG_MMAP="1"), ["--mmap"])

    assert not changed.has("--mmap")


def test_dropping_an_unknown_flag_takes_its_values_too() -> None:
    assert after(apply(of("--bogus-flag", "7", "--jinja"), [DropFlag("--bogus-flag")])) == (
        "--jinja",
    )
    assert after(apply(of("--bogus=7", "--jinja"), [DropFlag("--bogus=7")])) == ("--jinja",)


def test_what_only_a_person_can_do_changes_nothing() -> None:
    launch = of("-np", "1")

    assert apply(launch, [Upgrade("b9847"), Advice("think")]) == launch


def test_the_plain_arm_loses_all_of_speculation_and_nothing_else() -> None:
    kept = ("-np", "1", "-ctk", "q8_0", "-t", "2", "-dev", "none", "-ngl", "9", "-a", "draft-mtp")
    launch = of(
        *("--spec-type", "draft-mtp", "--spec_type", "ngram-mod", "--spec-default"),
        *kept[:4],
        *("-md", "d", "-hfd", "a/b", "-devd", "none", "-ngld", "9", "-ctkd", "q8_0", "-td", "2"),
        *kept[4:],
        *(
            "--draft-p-min",
            "0.5",
            "-lcs",
            "a",
            "-lcd",
            "b",
            "--draft-max",
            "4",
            "--spec-bogus",
            "1",
        ),
        *("--no-spec-draft-backend-sampling", "--spec-draft-n-max=3", "-otd", "x=CPU", "-cmoed"),
        LLAMA_ARG_SPEC_TYPE="draft-mtp",
        LLAMA_ARG_N_GPU_LAYERS_DRAFT="9",
        LLAMA_ARG_DRAFT_MAX="4",
        LLAMA_ARG_NO_SPEC_DRAFT_BACKEND_SAMPLING="1",
        LLAMA_ARG_SPEC_UNHEARD_OF="1",
        LLAMA_ARG_N_GPU_LAYERS="9",
    )
    changed = plain(launch)

    assert after(changed) == kept
    assert changed.environment == {"LLAMA_ARG_N_GPU_LAYERS": "9"}


@pytest.mark.parametrize("name", ["--model-draft", "-cd", "--threads-batch-draft"])
def test_the_plain_arm_of_an_unknown_server_loses_speculation_too(name: str) -> None:
    words = ("llama-server", "-m", "x", name, "1", "-np", "1")

    assert after(plain(parse(split(words), shipped()))) == ("-np", "1")


def test_flags_of_our_own_replace_the_users() -> None:
    launch = of(
        "--port",
        "8080",
        "--api-key",
        "a",
        "--api-key",
        "b",
        LLAMA_API_KEY="c",
        LLAMA_ARG_HOST="0.0.0.0",
    )
    changed = with_flags(launch, [("--host", "127.0.0.1"), ("--port", "1234"), ("--api-key", "k")])

    assert changed.all_values("--api-key") == ("k",)
    assert changed.value("--host") == "127.0.0.1"
    assert changed.value("--port") == "1234"


def test_a_dropped_variable_is_dropped_from_what_the_shell_sets_too() -> None:
    surrounding = {"PATH": "/bin", "LLAMA_ARG_SPEC_TYPE": "draft-mtp", "LLAMA_ARG_N_PARALLEL": "1"}
    launch = plain(launch_of("A=b", "llama-server", "-m", "x", **surrounding))

    assert environment_for(launch, surrounding) == {
        "PATH": "/bin",
        "LLAMA_ARG_N_PARALLEL": "1",
        "A": "b",
    }


def test_llama_serve_keeps_both_its_words() -> None:
    launch = apply(launch_of("llama", "serve", "-m", "x"), [SetFlag("-np", "1")])

    assert launch.words == ("llama", "serve", "-m", "x", "-np", "1")
    assert launch.start == 2


FLAGS = [flag for flag in table_of().flags if not flag.removed]
WORDS = st.lists(
    st.one_of(
        st.sampled_from(sorted(set(table_of().names) - PRINTS.keys())),
        st.sampled_from(["on", "4", "-1", "draft-mtp", "--bogus", "--ctx-size=1", "-"]),
    ),
    max_size=10,
)
VARIABLES = st.dictionaries(
    st.sampled_from(sorted(env for flag in FLAGS for env in flag.env)),
    st.sampled_from("01x"),
    max_size=3,
)


@given(WORDS, VARIABLES, st.sampled_from([flag for flag in FLAGS if flag.arity == 1]))
def test_a_flag_that_was_set_has_that_value_and_no_other(
    words: list[str], variables: dict[str, str], flag: Flag
) -> None:
    name = flag.name
    launch = apply(of(*words, **variables), [SetFlag(name, "1")])

    assert [option.values for option in launch.uses(name)] == [("1",)]


@given(WORDS, VARIABLES, st.sampled_from(FLAGS))
def test_a_flag_that_was_dropped_is_not_there(
    words: list[str], variables: dict[str, str], flag: Flag
) -> None:
    name = flag.name
    before = of(*words, **variables)
    launch = without(before, [name])

    assert not launch.has(name)
    assert len(launch.options) == len(before.options) - len(before.uses(name))


@given(WORDS, VARIABLES)
def test_the_plain_arm_speculates_in_no_way(words: list[str], variables: dict[str, str]) -> None:
    launch = plain(of(*words, **variables))

    assert speculative_types(launch) == ()
    assert not any(option.spelled.startswith("--spec") for option in launch.options)
    assert plain(launch) == launch


def test_a_variable_that_sets_a_removed_flag_is_replaced_by_its_name() -> None:
    launch = of(LLAMA_ARG_DRAFT_MAX="4")
    fix = SetFlag("--spec-draft-n-max", "4", replaces="LLAMA_ARG_DRAFT_MAX")
    changed = apply(launch, [fix])

    assert after(changed) == ("--spec-draft-n-max", "4")
    assert not changed.environment


def test_a_variable_is_dropped_by_its_name() -> None:
    assert not apply(of(LLAMA_ARG_DRAFT_MAX="4"), [DropFlag("LLAMA_ARG_DRAFT_MAX")]).environment
