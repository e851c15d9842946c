"""Driving a smoke run to its end, in this process or, run as a program, in one that is killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from threading import Event
from time import monotonic, sleep

from mtpdoctor.builds import Build
from mtpdoctor.events import SmokeEvent
from mtpdoctor.facts import Launch, SmokeRun
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.launch import parse, shipped, split
from mtpdoctor.smoke import Settings, run

MARK = "MTPDOCTOR_TEST_MARK"
NOTHING = Knowledge(revision=date(2026, 12, 1), horizon=Build(1))
MTP = ("--spec-type", "draft-mtp", "--spec-draft-n-max", "4")


def launch_of(*words: object) -> Launch:
    return parse(split([str(word) for word in words]), shipped())


def drive(
    binary: str,
    launch: Launch,
    settings: Settings,
    *,
    knowledge: Knowledge = NOTHING,
    cancel: Event | None = None,
    seen: Callable[[SmokeEvent], object] = lambda _: None,
) -> SmokeRun:
    """Run to the end and return what was measured; *seen* is told every event."""
    events = run(
        launch,
        knowledge=knowledge,
        settings=settings,
        cancel=cancel or Event(),
        binary=binary,
    )
    found: list[SmokeRun] = []

    def follow() -> Iterator[SmokeEvent]:
        found.append((yield from events))

    for event in follow():
        seen(event)
    return found[0]


def marked(mark: str) -> list[int]:
    """Return the living processes that were started with *mark* in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def gone_within(seconds: float, mark: str) -> bool:
    deadline = monotonic() + seconds
    while marked(mark):
        if monotonic() > deadline:
            return False
        sleep(0.01)
    return True


def main() -> None:
    def seen(event: SmokeEvent) -> None:
        print(event, flush=True)

    drive(
        sys.argv[1],
        launch_of("llama-server", "-m", "model.gguf", *MTP),
        Settings(rounds=("mtp",)),
        seen=seen,
    )


if __name__ == "__main__":
    main()
