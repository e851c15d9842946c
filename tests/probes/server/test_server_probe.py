from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest

from mtpdoctor.builds import Span
from mtpdoctor.facts import Architectures, Server, Unknown
from mtpdoctor.knowledge import Knowledge
from mtpdoctor.probes.server import probe
from mtpdoctor.probes.server.checkout import beside

pytestmark = pytest.mark.server
_ENVIRONMENT = {**os.environ, "LLAMA_ARG_CTX_SIZE": "not a number"}


@pytest.fixture(scope="module")
def server(wheel: str, book: Knowledge) -> Server:
    return probe(wheel, environment=_ENVIRONMENT, knowledge=book)


def test_a_real_server_is_identified_by_its_commit(server: Server) -> None:
    assert server.failure is None
    assert server.program == "llama.cpp"
    assert server.build == Span.exactly(10434)
    assert (server.commit, server.version) == ("7e4c0a9", "0.1.0-dev")


def test_the_executable_behind_the_wrapper_is_found(server: Server, wheel_binary: Path) -> None:
    assert server.binary == str(wheel_binary.resolve())


def test_its_help_is_read_although_the_environment_is_broken(server: Server) -> None:
    kinds = server.spec_types

    assert not isinstance(kinds, Unknown)
    assert "draft-mtp" in kinds


def test_it_has_a_backend_but_no_device_here(server: Server) -> None:
    assert not isinstance(server.backends, Unknown)
    assert "vulkan" in server.backends
    assert isinstance(server.devices, tuple)


def test_the_architectures_in_its_libllama_are_those_it_loads(server: Server) -> None:
    found = server.architectures

    assert isinstance(found, Architectures)
    assert {"gemma4", "gemma4-assistant", "qwen35", "glm4moe"} <= found.names
    assert {"gemma4_assistant", "gemma4_mtp", "glm5-next", "never-heard-of"} <= found.absent
    assert "bert" not in found.names | found.absent


def test_what_its_cpu_code_needs_is_printed_by_itself(server: Server) -> None:
    assert not isinstance(server.cpu_features, Unknown)
    assert {"AVX2", "AVX512_VNNI", "AMX_INT8"} <= server.cpu_features


def test_without_cuda_there_is_no_gpu_code(server: Server) -> None:
    assert isinstance(server.gpu_code, Unknown)


def test_a_shell_script_that_does_not_exec_is_seen_through(
    wheel_binary: Path, tmp_path: Path, book: Knowledge
) -> None:
    script = tmp_path / "llama-server"
    script.write_text(f'#!/bin/sh\n"{wheel_binary}" "$@"\nexit $?\n')
    script.chmod(0o755)

    server = probe(str(script), environment=_ENVIRONMENT, knowledge=book)

    assert server.binary == str(wheel_binary.resolve())
    assert isinstance(server.architectures, Architectures)


def test_an_interpreter_is_not_taken_for_the_server(
    wheel_binary: Path, tmp_path: Path, book: Knowledge
) -> None:
    script = tmp_path / "llama-server"
    script.write_text(f'#!/bin/sh\nwords=$("{wheel_binary}" "$@" 2>&1)\necho "$words"\n')
    script.chmod(0o755)

    server = probe(str(script), environment=_ENVIRONMENT, knowledge=book)

    assert server.build == Span.exactly(10434)
    assert isinstance(server.binary, Unknown)
    assert isinstance(server.architectures, Unknown)


def test_a_link_on_path_is_followed(wheel_binary: Path, tmp_path: Path, book: Knowledge) -> None:
    (tmp_path / "llama-server").symlink_to(wheel_binary)

    server = probe("llama-server", environment={"PATH": str(tmp_path)}, knowledge=book)

    assert server.path == str(tmp_path / "llama-server")
    assert server.binary == str(wheel_binary.resolve())


def test_a_program_that_is_not_there_leaves_every_field_unknown(book: Knowledge) -> None:
    server = probe("no-such-server", environment={"PATH": "/nowhere"}, knowledge=book)
    values = {field.name: getattr(server, field.name) for field in fields(server)}

    assert [name for name, value in values.items() if not isinstance(value, Unknown)] == [
        "named",
        "build_how",
    ]


def test_another_program_is_no_llama_server(book: Knowledge) -> None:
    server = probe(sys.executable, environment=_ENVIRONMENT, knowledge=book)

    assert isinstance(server.program, Unknown)
    assert isinstance(server.build, Unknown)
    assert isinstance(server.cpu_features, Unknown)


def _git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(
        ["git", *who, "-C", str(folder), *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that looks like llama.cpp's, of two commits."""
    top = tmp_path / "llama.cpp"
    (top / "include").mkdir(parents=True)
    (top / "ggml").mkdir()
    (top / "build" / "bin").mkdir(parents=True)
    (top / "include" / "llama.h").touch()
    _git(top, "init", "-q")
    for word in ("one", "two"):
        _git(top, "add", ".")
        _git(top, "commit", "-q", "--allow-empty", "-m", word)
    _git(top, "remote", "add", "origin", "https://github.com/ggml-org/llama.cpp.git")
    program = top / "build" / "bin" / "llama-server"
    program.touch()
    later = time.time() + 60
    os.utime(program, (later, later))
    return top


def _program(checkout: Path) -> str:
    return str(checkout / "build" / "bin" / "llama-server")


def test_a_checkout_of_the_printed_commit_counts(checkout: Path) -> None:
    head = _git(checkout, "rev-parse", "HEAD")

    found = beside(_program(checkout), head[:9], os.environ)

    assert found is not None
    assert (found.commit, found.count) == (head, 2)


def test_a_checkout_of_another_commit_does_not_count(checkout: Path) -> None:
    assert beside(_program(checkout), "0123456", os.environ) is None


def test_a_checkout_that_moved_after_the_build_does_not_count(checkout: Path) -> None:
    os.utime(_program(checkout), (1, 1))

    assert beside(_program(checkout), "", os.environ) is None


def test_a_forks_checkout_has_no_count(checkout: Path) -> None:
    _git(checkout, "remote", "set-url", "origin", "https://example.org/fork/llama.cpp")

    found = beside(_program(checkout), "", os.environ)

    assert found is not None
    assert found.count is None


def test_a_checkout_of_something_else_does_not_count(checkout: Path) -> None:
    (checkout / "include" / "llama.h").unlink()

    assert beside(_program(checkout), "", os.environ) is None
