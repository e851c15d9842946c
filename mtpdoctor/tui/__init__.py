"""The terminal interface: shows live what the report will hold, and nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mtpdoctor.render import text, words
from mtpdoctor.render.style import Style
from mtpdoctor.request import Request
from mtpdoctor.tui.app import DoctorApp


def run(request: Request | None) -> int:
    """Show the examination of *request*, or a screen to choose one; return the exit code.

    That is the code of the last finished examination, and OK if there was none; 130 if Ctrl-C
    broke an examination off, 143 after SIGTERM. What the last examination failed with is raised
    once the screen is the user's again. Verdict and command are then printed to stdout.
    """
    app = DoctorApp(request)
    try:
        asyncio.run(_until_quit(app))
    finally:
        app.clean_up()
    if app.last is not None:
        _print_last_words(app)
    if app.failure is not None and app.ended is None:
        raise app.failure
    return app.exit_code


async def _until_quit(app: DoctorApp) -> None:
    with _signals(app):
        await app.run_async()


@contextmanager
def _signals(app: DoctorApp) -> Iterator[None]:
    """Let signals end the app as keys do: raised in the middle of the loop, they would break it."""
    loop = asyncio.get_running_loop()
    answers = {signal.SIGTERM: app.terminate, signal.SIGINT: app.action_interrupt}
    before = {}
    for number, answer in answers.items():
        try:
            before[number] = signal.getsignal(number)
            loop.add_signal_handler(number, answer)
        except (NotImplementedError, RuntimeError, ValueError):  # Windows, or no main thread
            before.pop(number, None)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _print_last_words(app: DoctorApp) -> None:
    report = app.last
    assert report is not None
    style = Style.of(sys.stdout, dict(os.environ))
    for line in text.command_lines(report, style):
        sys.stdout.write(style.plain(line) + "\n")
    said = f"{style.verdict(report.verdict)}: {words.verdict(report)}"
    sys.stdout.write(style.plain(said) + "\n")
    sys.stdout.flush()
