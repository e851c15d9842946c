"""What the doctor knows about the patient: plain values, filled by probes, read by checks."""

from mtpdoctor.facts.command import Flag, FlagTable, Launch, Option
from mtpdoctor.facts.known import Facts, NotApplicable, Undetermined, Unknown, known
from mtpdoctor.facts.machine import Gpu, Gpus, Host
from mtpdoctor.facts.model import Drafter, HubRepo, Model, Target, Trouble
from mtpdoctor.facts.run import Arm, ArmName, Attempt, Crash, Parity, SmokeRun
from mtpdoctor.facts.server import (
    Architectures,
    CommitDate,
    Device,
    GpuCode,
    Server,
    StartFailure,
)

__all__ = [
    "Architectures",
    "Arm",
    "ArmName",
    "Attempt",
    "CommitDate",
    "Crash",
    "Device",
    "Drafter",
    "Facts",
    "Flag",
    "FlagTable",
    "Gpu",
    "GpuCode",
    "Gpus",
    "Host",
    "HubRepo",
    "Launch",
    "Model",
    "NotApplicable",
    "Option",
    "Parity",
    "Server",
    "SmokeRun",
    "StartFailure",
    "Target",
    "Trouble",
    "Undetermined",
    "Unknown",
    "known",
]
