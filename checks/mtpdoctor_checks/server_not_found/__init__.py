"""Whether there is a program to run."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Evidence, Finding, Server, Unknown, check

RELEASES = "https://github.com/ggml-org/llama.cpp/releases"


@check("server-not-found", "there is no such program as the command names")
def server_not_found(server: Server) -> Iterator[Finding]:
    if isinstance(server.path, Unknown):
        yield Finding(
            says=(
                f"{server.named} was not found: {server.path.reason}\n"
                "Give the path of your llama-server, or install llama.cpp."
            ),
            about=server.named,
            evidence=(Evidence(server.path.reason),),
            fixes=(Advice(f"install llama.cpp: {RELEASES}"),),
        )
