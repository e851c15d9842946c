"""The flash attention abort of CUDA builds: who has it, and who only fears it."""

from __future__ import annotations

from mtpdoctor import Drafter, Knowledge, Launch, Server, Unknown, known
from mtpdoctor.facts import Undetermined
from mtpdoctor.knowledge import Bug
from mtpdoctor_checks import capability
from mtpdoctor_checks.attention import Kind, kind
from mtpdoctor_checks.pair import ASSISTANT

HEAD, GQA = 512, 2


def bug(knowledge: Knowledge) -> Bug:
    return knowledge.bug("flash-attention-d512-gqa2")


def backend(server: Server, launch: Launch, knowledge: Knowledge) -> str | None:
    """Return the affected backend that the command would use; ``None`` if it uses none."""
    affected = known(server.backends) & bug(knowledge).backends
    if not affected or launch.all_values("--device") == ("none",):
        return None
    if not isinstance(server.devices, Unknown) and not server.devices:
        return None
    return min(affected)


def full_layers(drafter: Drafter | None) -> Kind | None:
    """Return the drafter's full layers if flash attention could trip over them."""
    if drafter is None or known(drafter.header).arch != ASSISTANT:
        return None
    full = kind(drafter, sliding=False)
    return full if full is not None and full.head == HEAD and full.gqa <= GQA else None


def suffers(server: Server, knowledge: Knowledge) -> bool:
    """Whether the build has the bug; raises :exc:`Undetermined` where its number cannot tell."""
    answer = knowledge.suffers(capability.known_build(server), bug(knowledge))
    if isinstance(answer, Unknown):
        raise Undetermined(answer.reason)
    return answer
