"""The screen without a command, and what the program costs when it is not shown."""

from __future__ import annotations

import subprocess
import sys

from tui.scripted import PASSED, LongRun, says, shown, until_seen

from mtpdoctor.errors import ExitCode
from mtpdoctor.events import CheckDone


async def test_it_offers_the_demo_and_a_line_for_a_command() -> None:
    async with shown(says(), request=None) as (app, pilot):
        seen = await until_seen(pilot, "d  the demo")

    assert "i  your command" in seen
    assert "mtpdoctor -- llama-server" in seen
    assert app.exit_code is ExitCode.OK


async def test_a_typed_command_is_examined() -> None:
    run = LongRun()
    async with shown(run, request=None) as (_, pilot):
        await pilot.press("i", *"llama-server -m 'a b.gguf'", "enter")
        await until_seen(pilot, "✓ pass:")

    assert run.requests[0].words == ("llama-server", "-m", "a b.gguf")
    assert not run.requests[0].smoke


async def test_an_open_quote_is_a_mistake_that_can_be_mended() -> None:
    run = LongRun()
    async with shown(run, request=None) as (_, pilot):
        await pilot.press("i", *"llama-server -m 'a", "enter")
        await until_seen(pilot, "mend the quotes")
        await pilot.press("'", "enter")
        await until_seen(pilot, "✓ pass:")

    assert run.requests[0].words == ("llama-server", "-m", "a")


async def test_q_quits_while_the_line_is_left_alone() -> None:
    async with shown(says(CheckDone(result=PASSED)), request=None) as (app, pilot):
        await pilot.press("q")
        await pilot.pause()

        assert not app.is_running


def test_the_command_line_does_not_pay_for_the_screen() -> None:
    code = "import sys, mtpdoctor.cli; sys.exit('textual' in sys.modules or 'rich' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
