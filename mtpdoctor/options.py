"""The command line as options: what ``--help`` says, and the request that comes of it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from mtpdoctor.errors import DoctorError
from mtpdoctor.findings import Severity
from mtpdoctor.launch import masked
from mtpdoctor.request import Config, Request, read_config
from mtpdoctor.version import VERSION

_EPILOG = """\
The words after -- are the llama-server command that you run today:

  mtpdoctor -- llama-server -hf unsloth/gemma-4-E4B-it-GGUF:Q4_K_M \\
      --spec-type draft-mtp --spec-draft-n-max 4 -ngl 999 -fa off

Other words:
  mtpdoctor checks        every check: id, title, origin, worst severity
  mtpdoctor explain ID    what a check finds, when it passes, and how to fix it

Exit codes: 0 nothing found that fails, 1 found, 2 usage, 3 inconclusive (with --smoke or
--strict), 70 a fault of mtpdoctor, 130 interrupted, 143 terminated.
"""


class _Parser(argparse.ArgumentParser):
    """Reports a mistake like every other mistake of the user: two lines, exit code 2."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise DoctorError(message, "mtpdoctor --help lists what there is")


def parser() -> argparse.ArgumentParser:
    """Return the parser; the command after ``--`` is split off before it is asked."""
    made = _Parser(
        prog="mtpdoctor",
        usage="mtpdoctor [options] [-- llama-server ARG ...]",
        description="Finds out why llama.cpp's MTP speculative decoding does not load, crashes,\n"
        "is silently off or makes things slower, and proves the command that works.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    made.add_argument("--version", action="version", version=f"mtpdoctor {VERSION}")
    made.add_argument("--debug", action="store_true", help="show tracebacks")

    what = made.add_argument_group("what to examine, in place of a command")
    what.add_argument("--server", metavar="PATH", help="the llama-server to examine")
    what.add_argument("--target", metavar="FILE|REPO[:QUANT]", help="the model")
    what.add_argument("--drafter", metavar="FILE|REPO[:QUANT]", help="its draft model")
    what.add_argument(
        "--demo", action="store_true", help="a small built-in pair, smoke run included"
    )
    what.add_argument(
        "--demo-acceptance",
        type=_share,
        metavar="X",
        help="the share of drafts that the built-in pair accepts (0 to 1; default 0.66)",
    )

    how = made.add_argument_group("how far to go")
    scope = how.add_mutually_exclusive_group()
    scope.add_argument("--smoke", action="store_true", help="run the command for real and prove it")
    scope.add_argument("--static", action="store_true", help="look only; start nothing that loads")
    how.add_argument("--force", action="store_true", help="smoke run in spite of static errors")
    how.add_argument("--offline", action="store_true", help="download nothing")
    how.add_argument(
        "--timeout", type=_positive, metavar="SECONDS", help="longest wait for a model to load"
    )

    judge = made.add_argument_group("how to judge")
    judge.add_argument("--select", metavar="ID,...", help="run these checks only; 'none' for none")
    judge.add_argument("--ignore", metavar="ID[=REASON],...", help="leave these checks out")
    judge.add_argument(
        "--fail-on", choices=["error", "warning"], help="what fails the verdict (default: error)"
    )
    judge.add_argument(
        "--strict", action="store_true", help="exit 3 when a static verdict is inconclusive"
    )
    judge.add_argument(
        "--min-acceptance", type=_share, metavar="X", help="with --smoke: fail below it (0 to 1)"
    )
    judge.add_argument(
        "--min-speedup", type=_positive, metavar="X", help="with --smoke: fail below it (1.2)"
    )

    out = made.add_argument_group("what to print")
    out.add_argument(
        "--format",
        choices=["text", "json"],
        help="text when stdout is no terminal, unless asked for",
    )
    out.add_argument(
        "--json", action="store_const", const="json", dest="format", help="--format json"
    )
    out.add_argument("--output", metavar="FILE", type=Path, help="write the report there")
    return made


def _share(text: str) -> float:
    value = _number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _positive(text: str) -> float:
    value = _number(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked for, before any command is known."""

    given: argparse.Namespace
    command: tuple[str, ...] | None
    """The words after ``--``; ``None`` when there is no ``--``."""


def read(argv: Sequence[str]) -> Options:
    """Read the command line; raises :exc:`DoctorError` for a mistake in it."""
    own, command = list(argv), None
    if "--" in own:
        at = own.index("--")
        own, command = own[:at], tuple(own[at + 1 :])
        if not command:
            raise DoctorError("nothing follows --", "put your llama-server command after it")
    given, unread = parser().parse_known_args(own)
    if given.words and given.words[0] not in {"checks", "explain"}:
        raise DoctorError(
            f"unexpected word: {masked(given.words)[0]}",
            "put -- before your llama-server command",
        )
    if unread:
        name = unread[0].partition("=")[0]
        near = get_close_matches(name, _flags(), n=1)
        hint = f"did you mean {near[0]}?" if near else "mtpdoctor --help lists what there is"
        raise DoctorError(f"there is no option {name}", hint)
    return Options(given=given, command=command)


def _flags() -> list[str]:
    return [flag for action in parser()._actions for flag in action.option_strings]  # noqa: SLF001


def request(
    options: Options, environment: Mapping[str, str], folder: Path | None
) -> Request | None:
    """Return what is to be examined; ``None`` when neither command nor configuration say.

    Raises :exc:`DoctorError` for options that contradict each other.
    """
    given, config = options.given, read_config(folder) if folder else Config()
    smoke = given.smoke or (given.demo and not given.static)
    if given.force and not smoke:
        raise DoctorError("--force runs in spite of errors, and needs --smoke", "add --smoke")
    if given.demo_acceptance is not None and not given.demo:
        raise DoctorError("--demo-acceptance is for the built-in pair", "add --demo")
    if (given.min_acceptance is not None or given.min_speedup is not None) and not smoke:
        raise DoctorError("--min-acceptance and --min-speedup need --smoke", "add --smoke")
    words = _words(options, config)
    if words is None and not given.demo:
        return None
    return Request(
        words=words or (),
        environment=environment,
        smoke=smoke,
        select=_select(given.select, config),
        ignore=_ignore(given.ignore, config),
        fail_on=Severity(given.fail_on or config.fail_on or Severity.ERROR),
        strict=given.strict or config.strict,
        min_acceptance=_first(given.min_acceptance, config.min_acceptance if smoke else None),
        min_speedup=_first(given.min_speedup, config.min_speedup if smoke else None),
        timeout=_first(_first(given.timeout, config.timeout), 600.0) or 600.0,
        offline=given.offline or config.offline,
        force=given.force,
    )


def _first(option: float | None, configured: float | None) -> float | None:
    return configured if option is None else option


def _words(options: Options, config: Config) -> tuple[str, ...] | None:
    given = options.given
    shortcuts = given.target or given.drafter
    if given.demo:
        if options.command or shortcuts:
            raise DoctorError("--demo brings its own command", "leave out the command, or --demo")
        return None
    if options.command is not None:
        if shortcuts:
            raise DoctorError(
                "--target and --drafter build a command, and one is given already",
                "write -m and --model-draft in the command instead",
            )
        return _with_server(options.command, given.server)
    if given.target:
        return _built(given.server or "llama-server", given.target, given.drafter)
    if given.drafter:
        raise DoctorError("--drafter needs --target", "name the model that it drafts for")
    if config.command:
        try:
            configured = tuple(shlex.split(config.command))
        except ValueError as error:
            raise DoctorError(f"command in the configuration: {error}", "mend its quotes") from None
        return _with_server(configured, given.server)
    return None


def _with_server(words: tuple[str, ...], server: str | None) -> tuple[str, ...]:
    """Return *words* with *server* as the program, behind the assignments before it."""
    if server is None:
        return words
    at = next((i for i, word in enumerate(words) if "=" not in word or word[0] == "-"), len(words))
    rest = words[at:] if words[at : at + 1] and words[at].startswith("-") else words[at + 1 :]
    return (*words[:at], server, *rest)


def _built(server: str, target: str, drafter: str | None) -> tuple[str, ...]:
    words = [server, *_named(target, "-m", "-hf")]
    if drafter:
        words += _named(drafter, "--model-draft", "--spec-draft-hf")
    return (*words, "--spec-type", "draft-mtp")


def _named(name: str, file_flag: str, repo_flag: str) -> tuple[str, str]:
    """Return the flag for a file, or for ``org/repo[:QUANT]`` when no such file is there."""
    repo = name.partition(":")[0]
    is_repo = repo.count("/") == 1 and not name.endswith(".gguf") and not Path(name).exists()
    return (repo_flag if is_repo and repo[0] not in "./~" else file_flag, name)


def _select(text: str | None, config: Config) -> frozenset[str] | None:
    if text == "none":
        return frozenset()
    if text is not None:
        named = frozenset(part.strip() for part in text.split(",") if part.strip())
        if not named:
            raise DoctorError("--select names no check", "give ids, or 'none' for none at all")
        return named
    return frozenset(config.select) if config.select else None


def _ignore(text: str | None, config: Config) -> dict[str, str]:
    ignored = dict(config.ignore)
    for part in (text or "").split(","):
        id, _, reason = part.strip().partition("=")
        if id:
            ignored[id] = reason or "asked for"
    return ignored
