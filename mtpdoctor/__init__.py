"""What the author of a check needs, in one import."""

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
from mtpdoctor.version import VERSION

__version__ = VERSION

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
