"""What the author of a check needs, in one import.

Names are looked up when they are used: ``mtpdoctor --version`` pays for none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mtpdoctor.version import VERSION

if TYPE_CHECKING:
    from mtpdoctor.builds import Bracket, Build, BuildRange, Span
    from mtpdoctor.checks import Check, check, checks_in
    from mtpdoctor.facts import (
        Drafter,
        Facts,
        Gpu,
        Gpus,
        Host,
        HubRepo,
        Launch,
        Model,
        NotApplicable,
        Server,
        SmokeRun,
        Target,
        Undetermined,
        Unknown,
        known,
    )
    from mtpdoctor.findings import (
        Advice,
        Download,
        DropFlag,
        Evidence,
        Finding,
        Fix,
        Rebuild,
        SetFlag,
        Severity,
        Upgrade,
    )
    from mtpdoctor.knowledge import Knowledge, cited

__version__ = VERSION

_HOMES = {
    "builds": ("Bracket", "Build", "BuildRange", "Span"),
    "checks": ("Check", "check", "checks_in"),
    "facts": (
        "Drafter",
        "Facts",
        "Gpu",
        "Gpus",
        "Host",
        "HubRepo",
        "Launch",
        "Model",
        "NotApplicable",
        "Server",
        "SmokeRun",
        "Target",
        "Undetermined",
        "Unknown",
        "known",
    ),
    "findings": (
        "Advice",
        "Download",
        "DropFlag",
        "Evidence",
        "Finding",
        "Fix",
        "Rebuild",
        "SetFlag",
        "Severity",
        "Upgrade",
    ),
    "knowledge": ("Knowledge", "cited"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


__all__ = [
    "Advice",
    "Bracket",
    "Build",
    "BuildRange",
    "Check",
    "Download",
    "Drafter",
    "DropFlag",
    "Evidence",
    "Facts",
    "Finding",
    "Fix",
    "Gpu",
    "Gpus",
    "Host",
    "HubRepo",
    "Knowledge",
    "Launch",
    "Model",
    "NotApplicable",
    "Rebuild",
    "Server",
    "SetFlag",
    "Severity",
    "SmokeRun",
    "Span",
    "Target",
    "Undetermined",
    "Unknown",
    "Upgrade",
    "check",
    "checks_in",
    "cited",
    "known",
]
