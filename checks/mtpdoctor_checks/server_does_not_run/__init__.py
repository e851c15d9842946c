"""Whether the program starts at all."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, NotApplicable, Server, check, known
from mtpdoctor.facts import StartFailure

_WORDS = {
    "missing-library": "a library that it needs is not there",
    "library-version": "a library that it needs is there in an older version",
    "wrong-architecture": "it was built for another kind of processor or system",
    "not-executable": "the file may not be executed",
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
    yield Finding(
        says=f"{server.named} does not start: {_WORDS[failure.kind]}\n{_advice(server, failure)}.",
        about=server.named,
        evidence=(Evidence(failure.says),),
        fixes=(_fix(server, failure),),
    )


def _advice(server: Server, failure: StartFailure) -> str:
    match failure.kind:
        case "missing-library" | "library-version":
            what = failure.library or "the library"
            return f"Install {what}, or keep the files of the llama.cpp release together"
        case "wrong-architecture":
            return "Take the llama.cpp build for this system"
        case "not-executable":
            return f"Allow it: chmod +x {server.named}"
        case _:
            return f"Run it by hand to see more: {server.named} --version"


def _fix(server: Server, failure: StartFailure) -> Advice:
    return Advice(_advice(server, failure), f"{server.named} --version")
