"""The command line: owns stdout, stderr and the exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from mtpdoctor.errors import DoctorError, ExitCode

if TYPE_CHECKING:
    from mtpdoctor.options import Options
    from mtpdoctor.report import Report
    from mtpdoctor.request import Request


class _Terminated(BaseException):
    """SIGTERM: unwinds like Ctrl-C, so that everything is cleaned up on the way out."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, see :class:`~mtpdoctor.errors.ExitCode`."""
    words = sys.argv[1:] if argv is None else list(argv)
    debug = "--debug" in (words[: words.index("--")] if "--" in words else words)
    try:
        with _terminated_by_signal():
            return _run(words)
    except DoctorError as error:
        if debug:
            raise
        return _complain(error)
    except KeyboardInterrupt:
        _say("interrupted; nothing was left running")
        return ExitCode.INTERRUPTED
    except _Terminated:
        _say("terminated; nothing was left running")
        return ExitCode.TERMINATED
    except Exception as error:
        if debug:
            raise
        _say(f"a fault of mtpdoctor: {type(error).__name__}: {error}")
        _say("--debug shows where; please report it")
        return ExitCode.INTERNAL


def _run(words: Sequence[str]) -> int:
    if words == ["--version"]:  # answered without loading anything else
        from mtpdoctor.version import VERSION

        _write(f"mtpdoctor {VERSION}\n")
        return ExitCode.OK
    from mtpdoctor import options

    asked = options.read(words)
    given = asked.given
    if given.words:
        return _lookup(asked)
    if given.output is not None:
        _refuse_bad_output(given.output)
    request = options.request(asked, dict(os.environ), _here())
    interactive = given.format is None and given.output is None and _on_a_terminal()
    if given.demo:
        request = _demo(asked, request)
    if interactive:
        from mtpdoctor.tui import run

        return run(request)
    if request is None:
        raise DoctorError(
            "there is nothing to examine",
            "put your command after --, as in: mtpdoctor -- llama-server -m MODEL.gguf …; or try"
            " mtpdoctor --demo",
        )
    return _examine(request, asked)


def _demo(asked: Options, request: Request | None) -> Request:
    from dataclasses import replace

    from mtpdoctor.demo import command as demo

    assert request is not None
    wanted = asked.given.demo_acceptance
    words = demo.command(
        server=asked.given.server,
        environment=dict(os.environ),
        acceptance=demo.ACCEPTANCE if wanted is None else wanted,
    )
    return replace(request, words=words)


def _on_a_terminal() -> bool:
    streams = (sys.stdin, sys.stdout)  # either is None where it was closed
    return all(s is not None and s.isatty() for s in streams) and os.environ.get("TERM") != "dumb"


def _lookup(asked: Options) -> int:
    from mtpdoctor.render import catalogue
    from mtpdoctor.render.style import Style

    words = asked.given.words
    if asked.given.format is not None or asked.given.output is not None:
        raise DoctorError(f"{words[0]} prints text on stdout", "leave out --format and --output")
    style = Style.of(sys.stdout, dict(os.environ))
    if words[0] == "checks":
        if len(words) > 1:
            raise DoctorError(f"unexpected word: {words[1]}", "mtpdoctor explain ID explains one")
        lines = catalogue.lines(style)
    elif len(words) == 2:
        lines = catalogue.page_lines(words[1], style)
    else:
        raise DoctorError("explain takes one id", "mtpdoctor checks lists them all")
    _write("".join(f"{line}\n" for line in lines))
    return ExitCode.OK


def _examine(request: Request, asked: Options) -> int:
    given = asked.given
    report = _diagnosed(request, speaks=given.format != "json")
    if given.format == "json":
        from mtpdoctor.render import json_v1

        text = json_v1.dumps(report)
    else:
        from mtpdoctor.render import text as rendering
        from mtpdoctor.render.style import Style

        to_file = given.output is not None
        style = Style() if to_file else Style.of(sys.stdout, dict(os.environ))
        text = "\n".join(rendering.lines(report, style)) + "\n"
    if given.output is None:
        _write(text)
    else:
        try:
            given.output.write_text(text, "utf-8")
        except OSError as error:
            _write(text)  # the work of a long run is not thrown away
            raise DoctorError(f"{given.output}: {error.strerror}", "choose another file") from None
    return report.exit_code


def _here() -> Path | None:
    """Return the working folder; ``None`` where it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


def _refuse_bad_output(path: Path) -> None:
    """Say before a long run, and not after it, that its report could not be written."""
    if path.is_dir():
        raise DoctorError(f"{path} is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise DoctorError(f"{path.parent}: No such folder", "make it, or choose another file")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise DoctorError(f"{path} may not be written", "choose another file")


def _write(text: str) -> None:
    """Print on stdout; a reader that has gone, or a stream that was closed, is no fault."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    except OSError as error:
        _drop_stdout()
        raise DoctorError(f"stdout: {error.strerror}", "make room, or use --output") from None


def _diagnosed(request: Request, *, speaks: bool) -> Report:
    """Examine *request*, showing on stderr what a long run is doing."""
    from mtpdoctor import doctor
    from mtpdoctor.events import SmokeSample, SmokeStage
    from mtpdoctor.render.text import progress

    # Whatever a plugin prints, stdout is for the report.
    elsewhere = sys.stderr if sys.stderr is not None else io.StringIO()
    with _status(speaks=speaks) as show, redirect_stdout(elsewhere):
        for event in doctor.diagnose(request):
            if isinstance(event, doctor.Finished):
                return event.report
            if isinstance(event, SmokeStage | SmokeSample):
                show(progress(event), isinstance(event, SmokeStage))
    raise AssertionError("an examination ends with its report")


@contextmanager
def _status(*, speaks: bool) -> Iterator[Callable[[str, bool], None]]:
    """Yield a function that shows a line, and is told whether it is a new stage.

    On a terminal the line takes the place of the one before. Elsewhere each stage is a line of its
    own, for whoever reads the log of a long run, if the front end *speaks* at all.
    """

    def rewrite(line: str, _stage: bool) -> None:  # noqa: FBT001  a callback's word
        print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)

    def add(line: str, stage: bool) -> None:  # noqa: FBT001
        if stage and speaks and sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)

    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield add
        return
    try:
        yield rewrite
    finally:
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


@contextmanager
def _terminated_by_signal() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise _Terminated

    # A terminal that is closed says SIGHUP; Windows has none.
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _complain(error: DoctorError) -> int:
    _say(error.says)
    if error.hint:
        _say(error.hint if error.hint.endswith("?") else f"try: {error.hint}")
    return ExitCode.USAGE


def _say(line: str) -> None:
    from mtpdoctor.visible import visible

    if sys.stderr is not None:
        print(f"mtpdoctor: {visible(line)}", file=sys.stderr)


def _drop_stdout() -> None:
    """Let the reader of a closed pipe go; Python would complain of it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
