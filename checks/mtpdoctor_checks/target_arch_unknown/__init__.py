"""Whether llama-server knows the target's architecture at all."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Advice, Finding, Knowledge, Server, Target, check
from mtpdoctor_checks.architecture import unknown_architecture
from mtpdoctor_checks.pair import UNREADABLE


@check(
    "target-arch-unknown",
    "llama-server does not know the target's architecture",
    after=["server-not-found", "server-does-not-run", *UNREADABLE, "roles-swapped"],
)
def target_arch_unknown(server: Server, target: Target, knowledge: Knowledge) -> Iterator[Finding]:
    fix = Advice("take a GGUF that llama.cpp's own converter made, or the fork it was made for")
    yield from unknown_architecture(target, server, knowledge, (fix,))
