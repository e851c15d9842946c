"""From the command line to the request."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtpdoctor import options
from mtpdoctor.errors import DoctorError
from mtpdoctor.findings import Severity
from mtpdoctor.request import Request


def read(folder: Path, *argv: str) -> Request | None:
    return options.request(options.read(argv), {}, folder)


def words(folder: Path, *argv: str) -> tuple[str, ...]:
    request = read(folder, *argv)
    assert request is not None
    return request.words


def test_the_words_after_the_dashes_are_the_command(tmp_path: Path) -> None:
    got = words(tmp_path, "--smoke", "--", "llama-server", "-m", "x.gguf", "--json")

    assert got == ("llama-server", "-m", "x.gguf", "--json")


def test_shortcuts_build_a_command(tmp_path: Path) -> None:
    got = words(tmp_path, "--server", "/s", "--target", "t.gguf", "--drafter", "d.gguf")

    assert got == ("/s", "-m", "t.gguf", "--model-draft", "d.gguf", "--spec-type", "draft-mtp")


def test_a_repository_is_told_from_a_file(tmp_path: Path) -> None:
    got = words(tmp_path, "--target", "unsloth/gemma-4-E4B-it-GGUF:Q4_K_M")

    assert got[:3] == ("llama-server", "-hf", "unsloth/gemma-4-E4B-it-GGUF:Q4_K_M")


def test_server_takes_the_place_of_the_program_behind_assignments(tmp_path: Path) -> None:
    got = words(tmp_path, "--server", "/s", "--", "LLAMA_ARG_FLASH_ATTN=off", "llama-server", "-m")

    assert got == ("LLAMA_ARG_FLASH_ATTN=off", "/s", "-m")


def test_a_configuration_file_supplies_the_command_and_the_thresholds(tmp_path: Path) -> None:
    (tmp_path / "mtpdoctor.toml").write_text(
        'command = "llama-server -m \'a b.gguf\'"\nmin-acceptance = 0.5\nfail-on = "warning"\n'
    )

    request = read(tmp_path, "--smoke")

    assert request is not None
    assert request.words == ("llama-server", "-m", "a b.gguf")
    assert (request.min_acceptance, request.fail_on) == (0.5, Severity.WARNING)


def test_options_come_before_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.mtpdoctor]\ncommand = "a"\ntimeout = 9\n')

    request = read(tmp_path, "--timeout", "5", "--", "b")

    assert request is not None
    assert (request.words, request.timeout) == (("b",), 5.0)


def test_every_mistake_of_a_configuration_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "mtpdoctor.toml").write_text('comand = "x"\nstrict = "yes"\n')

    with pytest.raises(DoctorError) as error:
        read(tmp_path)

    assert "mtpdoctor.toml" in error.value.says
    assert "unknown key 'comand'" in error.value.says
    assert "strict: expected bool, got 'yes'" in error.value.says


def test_without_a_command_there_is_no_request(tmp_path: Path) -> None:
    assert read(tmp_path) is None


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--"], "nothing follows --"),
        (["llama-server", "-m", "x"], "unexpected word"),
        (["--min-acceptance", "0.5", "--", "llama-server"], "need --smoke"),
        (["--min-acceptance", "1.5", "--smoke", "--", "x"], "1.5 is not between 0 and 1"),
        (["--timeout", "soon", "--", "x"], "'soon' is not a number"),
        (["--drafter", "d.gguf"], "--drafter needs --target"),
        (["--demo", "--", "llama-server"], "--demo brings its own command"),
        (["--target", "t", "--", "llama-server"], "one is given already"),
        (["--format", "yaml", "--", "x"], "invalid choice"),
        (["--force", "--", "x"], "needs --smoke"),
        (["--select", ",", "--", "x"], "names no check"),
        (["--demo-acceptance", "1", "--", "x"], "built-in pair"),
        (["--jsn", "--", "x"], "there is no option --jsn"),
    ],
)
def test_a_mistake_is_told_with_what_to_do(tmp_path: Path, argv: list[str], says: str) -> None:
    with pytest.raises(DoctorError, match=says) as error:
        read(tmp_path, *argv)

    assert error.value.hint


def test_select_none_runs_no_check_and_ignore_keeps_its_reason(tmp_path: Path) -> None:
    request = read(tmp_path, "--select", "none", "--ignore", "a=known,b", "--", "x")

    assert request is not None
    assert request.select == frozenset()
    assert request.ignore == {"a": "known", "b": "asked for"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("min-acceptance = 5", "min-acceptance: 5.0 is out of range"),
        ("min-speedup = nan", "min-speedup: nan is out of range"),
        ("timeout = -3", "timeout: -3.0 is out of range"),
        ('fail-on = "info"', "fail-on: expected one of 'error', 'warning'"),
        ("timeout = " + "9" * 5000, "integer string conversion|digits"),
        ("a = " + "[" * 900, "nested too deeply|Invalid"),
    ],
)
def test_values_of_a_configuration_are_judged_like_options(
    text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "mtpdoctor.toml").write_text(text)

    with pytest.raises(DoctorError, match=says):
        read(tmp_path)


def test_a_configuration_that_is_no_file_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "mtpdoctor.toml").mkdir()

    with pytest.raises(DoctorError, match="Is a directory"):
        read(tmp_path)


def test_another_projects_broken_file_is_none_of_our_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other\n")

    assert words(tmp_path, "--", "x") == ("x",)
