"""Whether llama-server knows the drafter's architecture at all."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import Drafter, Finding, Knowledge, Server, Target, check
from mtpdoctor_checks.architecture import unknown_architecture
from mtpdoctor_checks.pair import UNREADABLE, replacement


@check(
    "drafter-arch-unknown",
    "llama-server does not know the drafter's architecture",
    after=["server-not-found", "server-does-not-run", *UNREADABLE, "roles-swapped"],
)
def drafter_arch_unknown(
    server: Server, target: Target | None, drafter: Drafter, knowledge: Knowledge
) -> Iterator[Finding]:
    fixes = replacement(drafter, target)
    yield from unknown_architecture(drafter, server, knowledge, fixes)
