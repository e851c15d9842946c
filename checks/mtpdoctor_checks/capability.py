"""What a server can do: what its binary shows decides, then its build, else nobody knows."""

from __future__ import annotations

from mtpdoctor import Knowledge, Server, Span, Undetermined, Unknown
from mtpdoctor.knowledge import Feature
from mtpdoctor.launch import MTP

LLAMA_CPP = "llama.cpp"


def build(server: Server) -> Span | Unknown:
    """Return the build of a server, if its number is one of llama.cpp's own."""
    if isinstance(server.program, Unknown):
        return server.program
    if server.program != LLAMA_CPP:
        return Unknown(f"{server.program} is a fork, its builds are not those of {LLAMA_CPP}")
    return server.build


def known_build(server: Server) -> Span:
    """Return the build of a server, or give up on the check with the reason."""
    found = build(server)
    if isinstance(found, Unknown):
        raise Undetermined(found.reason)
    return found


def has(server: Server, feature: Feature, knowledge: Knowledge) -> bool | Unknown:
    """Whether the server's build has *feature*, as far as its number tells."""
    found = build(server)
    return found if isinstance(found, Unknown) else knowledge.has(found, feature)


def loads(server: Server, arch: str, knowledge: Knowledge) -> bool | Unknown:
    """Whether the server loads models of the architecture *arch*."""
    if not isinstance(server.architectures, Unknown):
        if arch in server.architectures.names:
            return True
        if arch in server.architectures.absent:
            return False
    entry = knowledge.feature("arch", arch)
    if entry is not None:
        return has(server, entry, knowledge)
    graph = knowledge.feature("mtp-graph", arch)
    if graph is not None and has_surely(server, graph, knowledge):
        return True  # what drafts also loads
    return Unknown(f"nothing is known of the architecture {arch!r} in {LLAMA_CPP}")


def has_surely(server: Server, feature: Feature, knowledge: Knowledge) -> bool:
    return has(server, feature, knowledge) is True


def drafts_mtp(server: Server, knowledge: Knowledge) -> bool | Unknown:
    """Whether the server drafts with MTP heads, by ``--spec-type draft-mtp`` or ``mtp``."""
    if server.takes_spec_type("mtp") is True:  # the word of forks, and of its branch
        return True
    shown = server.takes_spec_type(MTP)
    if not isinstance(shown, Unknown):
        return shown
    entry = knowledge.feature("spec-type")
    assert entry is not None
    return has(server, entry, knowledge)
