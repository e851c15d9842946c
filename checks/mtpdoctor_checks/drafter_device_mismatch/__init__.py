"""Whether the drafter may run where the KV cache lies that it shares with the target."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    Drafter,
    DropFlag,
    Evidence,
    Finding,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    SetFlag,
    Severity,
    Target,
    Undetermined,
    Unknown,
    check,
    cited,
    known,
)
from mtpdoctor.launch import real_number, whole_number
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import NOT_A_PAIR, gemma4_pair, name

_FLAG = "--spec-draft-device"
_BUG = "drafter-device-without-target-kv"


@check(
    "drafter-device-mismatch",
    "the drafter may not use the device of the target's last layers",
    after=["server-not-found", "server-does-not-run", "device-not-found", *NOT_A_PAIR],
)
def drafter_device_mismatch(
    launch: Launch, server: Server, target: Target, drafter: Drafter, knowledge: Knowledge
) -> Iterator[Finding]:
    given = launch.value(_FLAG)
    if given is None:
        raise NotApplicable(f"the command has no {_FLAG}")
    gemma4_pair(target, drafter)
    last, sure = _last_device(launch, server)
    if last.lower() in {each.strip().lower() for each in given.split(",")}:
        return
    bug = knowledge.bug(_BUG)
    build = capability.build(server)
    suffers = build if isinstance(build, Unknown) else knowledge.suffers(build, bug)
    if suffers is False:
        raise NotApplicable("this build loads no gemma4-assistant drafter")
    spelled = launch.uses(_FLAG)[-1].spelled
    yield Finding(
        says=(
            f"{spelled} {given} keeps {name(drafter)} off {last}, where the target's last layers "
            "are\nThe drafter reads their KV cache, and llama-server aborts where it cannot. "
            f"Name {last}, or leave {spelled} out."
        ),
        severity=Severity.ERROR if sure and suffers is True else Severity.WARNING,
        about=spelled,
        evidence=(Evidence(f"the command: {spelled} {given}"), *cited(bug.source)),
        fixes=(SetFlag(_FLAG, last), DropFlag(_FLAG)),
    )


def _last_device(launch: Launch, server: Server) -> tuple[str, bool]:
    """Return the device of the target's last layers, and whether that is sure."""
    named = launch.all_values("--device")
    devices = list(named) if named else [device.name for device in known(server.devices)]
    layers = whole_number(launch.value("--gpu-layers") or "")
    if not devices or devices == ["none"] or layers == 0 or launch.enabled("--kv-offload") is False:
        raise NotApplicable("the target's KV cache is in the machine's own memory")
    mode = launch.value("--split-mode") or "layer"
    if mode == "tensor":
        raise NotApplicable("-sm tensor spreads each layer over all devices")
    if mode == "none":
        main = whole_number(launch.value("--main-gpu") or "0") or 0
        return devices[main if 0 <= main < len(devices) else 0], True
    if mode != "layer":
        raise Undetermined(f"where -sm {mode} puts the KV cache of the last layers")
    shares = [real_number(part) or 0.0 for part in launch.all_values("--tensor-split")]
    if not any(shares):
        return devices[-1], len(devices) == 1
    holding = [device for device, share in zip(devices, shares, strict=False) if share > 0]
    return holding[-1] if holding else devices[-1], bool(holding)
