"""Whether the devices that the command names are there."""

from __future__ import annotations

from collections.abc import Iterator

from mtpdoctor import (
    DropFlag,
    Evidence,
    Finding,
    Fix,
    Knowledge,
    Launch,
    NotApplicable,
    Server,
    SetFlag,
    Undetermined,
    Unknown,
    check,
    known,
)
from mtpdoctor_checks import capability
from mtpdoctor_checks.pair import program

_FLAGS = ("--device", "--spec-draft-device")
_SPLIT = "--split-mode"


@check(
    "device-not-found",
    "the command names a device that llama-server does not have",
    after=["server-not-found", "server-does-not-run"],
)
def device_not_found(launch: Launch, server: Server, knowledge: Knowledge) -> Iterator[Finding]:
    named = {flag: _devices(launch, flag) for flag in _FLAGS}
    mode = launch.value(_SPLIT)
    split = mode in {"tensor", "none"}
    if not any(named.values()) and not split:
        raise NotApplicable("the command names no device")
    there = [device.name for device in known(server.devices)]
    remote = launch.has("--rpc")
    if mode == "tensor" and not there and not remote:
        yield _nothing_to_split(server)
    elif mode == "none" and not there and not remote:
        yield from _none_of_none(server, knowledge)
    unasked: list[str] = []
    for flag, devices in named.items():
        lacking = [each for each in devices if each.lower() not in {d.lower() for d in there}]
        if remote:
            unasked += [each for each in lacking if each.upper().startswith("RPC")]
            lacking = [each for each in lacking if each not in unasked]
        if not lacking:
            continue
        spelled = launch.uses(flag)[-1].spelled
        yield Finding(
            says=(
                f"{spelled} names {', '.join(lacking)}, and {program(server)} sees "
                f"{', '.join(there) or 'no device at all'}\n"
                "llama-server stops. Without the flag it takes what is there."
            ),
            about=spelled,
            evidence=(
                Evidence(f"{program(server)} --list-devices: {', '.join(there) or '(none)'}"),
                Evidence(f"the command: {spelled} {launch.value(flag)}"),
            ),
            fixes=(_fix(spelled, [each for each in devices if each not in lacking]),),
        )
    if unasked:
        raise Undetermined(
            f"{', '.join(dict.fromkeys(unasked))}: --list-devices was asked without --rpc"
        )


def _none_of_none(server: Server, knowledge: Knowledge) -> Iterator[Finding]:
    """Find a build that looks for its one device where there is none at all."""
    serves = capability.has(server, knowledge.named("split-mode-none-without-devices"), knowledge)
    if isinstance(serves, Unknown):
        raise Undetermined(serves.reason)
    if not serves:
        yield Finding(
            says=(
                f"{_SPLIT} none asks for one device alone, and {program(server)} sees none\n"
                "This build refuses to load a model then; later ones do not."
            ),
            about=_SPLIT,
            evidence=(Evidence(f"{program(server)} --list-devices: (none)"),),
            fixes=(DropFlag(_SPLIT),),
        )


def _nothing_to_split(server: Server) -> Finding:
    return Finding(
        says=(
            f"{_SPLIT} tensor spreads a model over devices, and {program(server)} sees none\n"
            "llama-server refuses to load it."
        ),
        about=_SPLIT,
        evidence=(Evidence(f"{program(server)} --list-devices: (none)"),),
        fixes=(DropFlag(_SPLIT),),
    )


def _fix(flag: str, left: list[str]) -> Fix:
    return SetFlag(flag, ",".join(left)) if left else DropFlag(flag)


def _devices(launch: Launch, flag: str) -> list[str]:
    """Return the devices that the last use of *flag* names; ``none`` alone means no device."""
    value = launch.value(flag) or ""
    return [] if value == "none" else [each for each in value.split(",") if each]
