"""Whether the program starts at all."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, NotApplicable, Server, check, known
from mtpdoctor.facts import StartFailure
from mtpdoctor.launch import shell
from mtpdoctor.visible import visible

_WORDS = {
    "missing-library": "a library that it needs is not there",
    "library-version": "a library that it needs is there in an older version",
    "wrong-architecture": "it was built for another kind of processor or system",
    "not-executable": "the file may not be executed",
    "no-program": "it is no program",
    "bad-interpreter": "it is a script, and what is to run it cannot",
    "flood": "it writes without end instead of its version",
    "signal": "it dies as soon as it is started",
    "exit": "it ends with an error as soon as it is started",
    "timeout": "it does not answer --version",
}


@check(
    "server-does-not-run",
    "llama-server does not even print its version",
    after=["server-not-found"],
)
def server_does_not_run(server: Server) -> Iterator[Finding]:
    failure = known(server.failure)
    if failure is None:
        return
    if failure.signal == "SIGILL":
        raise NotApplicable("it dies of SIGILL: see cpu-features-missing")
    says, line = _advice(server, failure)
    yield Finding(
        says=f"{visible(server.named)} does not start: {_WORDS[failure.kind]}\n{says}.",
        about=visible(server.named),
        evidence=(Evidence(failure.says),),
        fixes=(Advice(says, line),),
    )


def _advice(server: Server, failure: StartFailure) -> tuple[str, str]:
    """Return what to do, and the line to copy for it, if there is one."""
    named = visible(server.named)
    match failure.kind:
        case "missing-library" | "library-version":
            what = failure.library or "the library"
            return f"Install {what}, or keep the files of the llama.cpp release together", ""
        case "wrong-architecture":
            return "Take the llama.cpp build for this system", ""
        case "not-executable":
            allow = shell(("chmod", "+x", server.named))
            return f"Allow it: {allow}", allow
        case "no-program":
            return f"Give the llama-server itself in place of {named}, or download it anew", ""
        case "bad-interpreter":
            return f"Correct the first line of {named}, or give the llama-server that it starts", ""
        case "flood":
            return f"Give the llama-server itself, if {named} is another program", ""
        case _:
            by_hand = shell((server.named, "--version"))
            return f"Run it by hand to see more: {by_hand}", by_hand
