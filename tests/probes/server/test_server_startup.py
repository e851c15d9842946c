from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mtpdoctor.facts import Server, StartFailure, Unknown
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.probes.server import probe, startup
from mtpdoctor.probes.server.ask import LIMIT, Answer, ask, surroundings
from mtpdoctor.probes.server.find import find

from .conftest import elf_bytes

_ENVIRONMENT = dict(os.environ)
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")


def _failure(server: Server) -> StartFailure:
    assert isinstance(server.failure, StartFailure)
    return server.failure


@pytest.mark.server
def test_a_server_without_its_libraries_names_the_missing_one(
    wheel_binary: Path, tmp_path: Path, book: Knowledge
) -> None:
    alone = tmp_path / "llama-server"
    shutil.copy(wheel_binary, alone)

    failure = _failure(probe(str(alone), environment=_ENVIRONMENT, knowledge=book))

    assert failure.kind == "missing-library"
    assert failure.library.startswith("libllama")


@pytest.mark.server
@posix
def test_a_server_that_may_not_be_executed_says_so(
    wheel_binary: Path, tmp_path: Path, book: Knowledge
) -> None:
    copy = tmp_path / "llama-server"
    shutil.copy(wheel_binary, copy)
    copy.chmod(0o644)

    failure = _failure(probe(str(copy), environment=_ENVIRONMENT, knowledge=book))

    assert failure.kind == "not-executable"
    assert "chmod +x" in failure.says


@posix
def test_a_program_for_another_processor_names_both(tmp_path: Path, book: Knowledge) -> None:
    path = tmp_path / "llama-server"
    path.write_bytes(elf_bytes({}, machine=22))
    path.chmod(0o755)

    failure = _failure(probe(str(path), environment=_ENVIRONMENT, knowledge=book))

    assert failure.kind == "wrong-architecture"
    assert "s390x" in failure.says


@posix
def test_a_script_whose_interpreter_is_missing_names_it(tmp_path: Path, book: Knowledge) -> None:
    path = tmp_path / "llama-server"
    path.write_text("#!/no/such/python\n")
    path.chmod(0o755)

    failure = _failure(probe(str(path), environment=_ENVIRONMENT, knowledge=book))

    assert failure.kind == "bad-interpreter"
    assert "/no/such/python" in failure.says


@posix
@pytest.mark.parametrize(
    ("content", "kind", "says"),
    [
        (b"<html>Not found</html>\n", "no-program", "neither a program"),
        (b"", "no-program", "empty"),
        (b"\x7fELF\x02\x01", "no-program", "damaged or cut short"),
        (b"\xcf\xfa\xed\xfe" + bytes(28), "wrong-architecture", "macOS"),
        (b"MZ" + bytes(62), "wrong-architecture", "Windows"),
        (b"#!\nexec llama-server\n", "bad-interpreter", "names no program"),
    ],
)
def test_a_file_that_is_no_program_is_told_for_what_it_is(
    content: bytes, kind: str, says: str, tmp_path: Path, book: Knowledge
) -> None:
    path = tmp_path / "llama-server"
    path.write_bytes(content)
    path.chmod(0o755)

    failure = _failure(probe(str(path), environment=_ENVIRONMENT, knowledge=book))

    assert failure.kind == kind
    assert says in failure.says


@posix
def test_a_script_for_a_folder_is_not_told_to_be_made_executable(
    tmp_path: Path, book: Knowledge
) -> None:
    path = tmp_path / "llama-server"
    path.write_text("#!/usr\n")
    path.chmod(0o755)

    failure = _failure(probe(str(path), environment=_ENVIRONMENT, knowledge=book))

    assert failure.kind == "bad-interpreter"


def _badly(stand_in: str, does: str, book: Knowledge, deadline: float = 10.0) -> StartFailure:
    environment = {**_ENVIRONMENT, "STAND_IN": does}
    return _failure(probe(stand_in, environment=environment, knowledge=book, deadline=deadline))


@posix
def test_a_server_that_dies_of_an_illegal_instruction_names_the_signal(
    stand_in: str, book: Knowledge
) -> None:
    failure = _badly(stand_in, "illegal", book)

    assert (failure.kind, failure.signal) == ("signal", "SIGILL")


def test_a_server_that_fails_gives_its_code_and_last_line(stand_in: str, book: Knowledge) -> None:
    failure = _badly(stand_in, "fails", book)

    assert failure.kind == "exit"
    assert failure.says == "it ended with exit code 3: no such thing"


@pytest.mark.parametrize("does", ["hangs", "ignores"])
def test_a_server_that_never_answers_is_stopped(does: str, stand_in: str, book: Knowledge) -> None:
    failure = _badly(stand_in, does, book, deadline=0.5)

    assert failure.kind == "timeout"
    assert not _left(stand_in)


def test_a_server_that_floods_is_stopped(stand_in: str, book: Knowledge) -> None:
    failure = _badly(stand_in, "floods", book)

    assert failure.kind == "flood"
    assert "without end" in failure.says
    assert not _left(stand_in)


def test_what_a_flood_leaves_is_bounded(stand_in: str) -> None:
    answer = ask([stand_in], {**_ENVIRONMENT, "STAND_IN": "floods"}, 10)

    assert answer.stopped == "flood"
    assert len(answer.out) <= LIMIT


@posix
def test_what_a_server_leaves_running_is_ended_with_it(stand_in: str) -> None:
    answer = ask([stand_in], {**_ENVIRONMENT, "STAND_IN": "forks"}, 10)

    assert answer.code == 0
    assert answer.out == b"version: 9536 (308f61c31)\n"
    assert not _left(stand_in)


@posix
def test_nothing_is_left_when_the_doctor_ends_while_a_server_hangs(stand_in: str) -> None:
    script = (
        "import sys, threading, time\n"
        "from mtpdoctor.probes.server.ask import ask, _running\n"
        "threading.Thread(target=ask, args=([sys.argv[1]], {'STAND_IN': 'hangs'}, 60),"
        " daemon=True).start()\n"
        "while not _running: time.sleep(0.01)\n"
    )

    subprocess.run([sys.executable, "-c", script, stand_in], check=True, timeout=30)

    assert not _left(stand_in)


def _left(program: str) -> list[int]:
    """Return the processes that run *program*, once those that were killed have gone."""
    found = []
    until = time.monotonic() + 2
    while time.monotonic() < until:
        found = [int(each.name) for each in Path("/proc").glob("[0-9]*") if _runs(each, program)]
        if not found:
            break
    return found


def _runs(process: Path, program: str) -> bool:
    try:
        return str((process / "exe").readlink()) == program
    except OSError:
        return False


@pytest.mark.parametrize(
    ("said", "kind", "library"),
    [
        (
            (
                "llama-server: error while loading shared libraries: libcudart.so.12: "
                "cannot open shared object file: No such file or directory"
            ),
            "missing-library",
            "libcudart.so.12",
        ),
        (
            (
                "llama-server: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found "
                "(required by llama-server)"
            ),
            "library-version",
            "GLIBC_2.38",
        ),
        (
            "llama-server: symbol lookup error: llama-server: undefined symbol: llama_n_swa",
            "library-version",
            "llama_n_swa",
        ),
        (
            "dyld[77]: Library not loaded: @rpath/libllama.dylib\n  Referenced from: x",
            "missing-library",
            "@rpath/libllama.dylib",
        ),
        (
            "Error loading shared library libgomp.so.1: No such file or directory",
            "missing-library",
            "libgomp.so.1",
        ),
    ],
)
def test_a_loaders_message_names_the_library(said: str, kind: str, library: str) -> None:
    failure = startup.failure(Answer(err=said.encode(), code=127), "llama-server")

    assert failure is not None
    assert (failure.kind, failure.library) == (kind, library)


def test_a_shells_status_of_a_killed_program_names_the_signal() -> None:
    failure = startup.failure(Answer(code=128 + signal.SIGILL), "llama-server")

    assert failure is not None
    assert failure.signal == "SIGILL"


def test_a_missing_dll_is_known_by_its_status() -> None:
    failure = startup.failure(Answer(code=0xC0000135), "llama-server.exe")

    assert failure is not None
    assert failure.kind == "missing-library"


def test_a_program_that_is_not_on_path_lists_folders_and_near_names(tmp_path: Path) -> None:
    for name in ("llama-server-vulkan", "llama", "cat"):
        (tmp_path / name).touch(0o755)

    where = find("llama-server", {"PATH": str(tmp_path)})

    assert isinstance(where, Unknown)
    assert str(tmp_path) in where.reason
    assert "llama-server-vulkan" in where.reason
    assert "`llama serve`" in where.reason
    assert "cat" not in where.reason.split("there is")[1]


def test_a_folder_in_place_of_the_program_says_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "build" / "bin").mkdir(parents=True)
    (tmp_path / "build" / "bin" / "llama-server-x").touch(0o755)

    where = find(str(tmp_path), {})

    assert isinstance(where, Unknown)
    assert "is a folder" in where.reason
    assert "llama-server-x" in where.reason


def test_a_misspelled_path_names_the_neighbour(tmp_path: Path) -> None:
    (tmp_path / "llama-server").touch(0o755)

    where = find(str(tmp_path / "llama-sever"), {})

    assert isinstance(where, Unknown)
    assert "there is llama-server" in where.reason


def test_a_path_of_this_folder_is_not_searched_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llama-server").touch(0o755)
    monkeypatch.chdir(tmp_path)

    assert find("./llama-server", {"PATH": "/nowhere"}) == str(tmp_path / "llama-server")


@pytest.mark.parametrize("named", ["", " ", "a\0b", "x" * 5000, "/" + "y" * 5000])
def test_no_name_breaks_the_search(named: str) -> None:
    assert isinstance(find(named, {"PATH": "/usr/bin"}), Unknown)


def test_the_users_settings_for_a_run_do_not_reach_the_questions() -> None:
    given = {"LLAMA_ARG_MODEL": "x", "LLAMA_LOG_FILE": "y", "LD_LIBRARY_PATH": "/opt", "TERM": "a"}

    assert surroundings(given) == {"LD_LIBRARY_PATH": "/opt", "NO_COLOR": "1", "TERM": "dumb"}
