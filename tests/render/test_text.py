"""The report as people read it."""

from __future__ import annotations

import io

import pytest
from reports import every_report

from mtpdoctor.render import text
from mtpdoctor.render.style import Style


def shown(name: str, style: Style | None = None) -> str:
    return "\n".join(text.lines(every_report()[name], style or Style()))


@pytest.mark.parametrize("name", every_report())
def test_the_verdict_is_the_last_line(name: str) -> None:
    assert shown(name).splitlines()[-1].startswith(every_report()[name].verdict.value + ":")


def test_a_passed_check_is_one_line() -> None:
    assert "✓ passed  one-thing" in shown("bare").splitlines()


def test_a_finding_has_its_reason_its_source_and_its_fixes_to_copy() -> None:
    got = shown("found")

    assert "✗ error   one-thing" in got
    assert "    get the one for this" in got
    assert "because: embedding_length_out = 1536 <https://example.invalid/1>" in got
    assert "fix: replace --draft-max by --spec-draft-n-max 4" in got
    assert "     hf download unsloth/gemma-4-E4B-it-GGUF mtp-gemma-4-E4B-it.gguf" in got
    assert "corrected command (not run):" in got


def test_a_proved_command_is_printed_to_copy() -> None:
    got = shown("smoke")

    assert "command (proved by the run):\n  llama-server -m t.gguf" in got
    assert "acceptance 0.66" in got


def test_secrets_are_masked() -> None:
    assert "s3cret" not in shown("secrets")


@pytest.mark.parametrize("name", every_report())
def test_nothing_but_line_ends_controls_the_terminal(name: str) -> None:
    got = shown(name).replace("\n", "")

    assert all(c.isprintable() for c in got)


def test_a_stream_of_another_encoding_gets_what_it_can_carry() -> None:
    assert shown("found", Style(unicode=False)).isascii()


def test_colour_is_for_terminals_that_want_it() -> None:
    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    assert Style.of(Terminal(), {}).colour
    assert not Style.of(Terminal(), {"NO_COLOR": "1"}).colour
    assert not Style.of(Terminal(), {"TERM": "dumb"}).colour
    assert not Style.of(io.StringIO(), {}).colour
