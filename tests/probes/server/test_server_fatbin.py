from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.facts import GpuCode, Unknown
from mtpdoctor.probes.server import fatbin

_NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
_PTX, _SASS = 1, 2
_OWN, _FAMILY = 1 << 20, 1 << 21
Write = Callable[[Mapping[str, bytes]], Path]


def entry(kind: int, arch: int, flags: int = 0, payload: bytes = b"\x28\xb5\x2f\xfd" * 6) -> bytes:
    head = struct.pack("<HHIQ12xI8xQ", kind, 0x101, 64, len(payload), arch, 0x11 | flags)
    return head.ljust(64, b"\0") + payload


def container(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return fatbin.MAGIC + struct.pack("<HHQ", 1, 16, len(body)) + body


def _scanned(elf_file: Write, content: bytes) -> GpuCode | Unknown:
    return fatbin.scan(str(elf_file({".text": b"\x90" * 64, ".nv_fatbin": content})))


def test_machine_code_and_portable_code_are_told_apart(elf_file: Write) -> None:
    code = _scanned(elf_file, container(entry(_SASS, 89), entry(_SASS, 90), entry(_PTX, 90)))

    assert code == GpuCode(sass=frozenset({89, 90}), ptx=frozenset({90}))


def test_code_for_one_capability_alone_is_kept_apart(elf_file: Write) -> None:
    code = _scanned(elf_file, container(entry(_SASS, 120, _OWN), entry(_PTX, 121, _OWN)))

    assert code == GpuCode(exact=frozenset({120, 121}))


def test_code_for_a_family_runs_as_machine_code_does(elf_file: Write) -> None:
    code = _scanned(elf_file, container(entry(_SASS, 100, _FAMILY), entry(_PTX, 120, _FAMILY)))

    assert code == GpuCode(sass=frozenset({100, 120}))


def test_a_device_linkers_smaller_container_changes_nothing(elf_file: Write) -> None:
    whole = container(entry(_SASS, 86), entry(_PTX, 86))

    code = _scanned(elf_file, container(entry(_SASS, 86)) + whole + bytes(24) + whole)

    assert code == GpuCode(sass=frozenset({86}), ptx=frozenset({86}))


def test_code_of_another_library_in_it_leaves_it_open(elf_file: Write) -> None:
    code = _scanned(elf_file, container(entry(_SASS, 75)) + container(entry(_SASS, 90)))

    assert isinstance(code, Unknown)
    assert "several origins" in code.reason


def test_a_library_without_gpu_code_says_so(elf_file: Write) -> None:
    code = fatbin.scan(str(elf_file({".rodata": fatbin.MAGIC * 9})))

    assert isinstance(code, Unknown)
    assert ".nv_fatbin" in code.reason


def test_containers_of_a_file_that_is_no_elf_are_found_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "ggml-cuda.dll"
    path.write_bytes(b"MZ" + bytes(501) + container(entry(_SASS, 61)) + bytes(77))

    assert fatbin.scan(str(path)) == GpuCode(sass=frozenset({61}))


def test_a_file_that_is_not_there_is_unknown(tmp_path: Path) -> None:
    assert isinstance(fatbin.scan(str(tmp_path / "nothing")), Unknown)


def test_an_empty_file_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "libggml-cuda.so"
    path.touch()

    assert isinstance(fatbin.scan(str(path)), Unknown)


@pytest.mark.skipif(_NVCC is None, reason="nvcc is not installed")
def test_what_nvcc_writes_is_read(tmp_path: Path) -> None:
    source, library = tmp_path / "k.cu", tmp_path / "libk.so"
    source.write_text("__global__ void k(float *a) { a[0] += 1; }\n")
    wanted = [
        "arch=compute_75,code=sm_75",
        "arch=compute_89,code=[sm_89,compute_89]",
        "arch=compute_90a,code=sm_90a",
    ]
    targets = [word for each in wanted for word in ("-gencode", each)]
    assert _NVCC is not None

    subprocess.run(
        [_NVCC, "-shared", "-Xcompiler", "-fPIC", *targets, "-o", str(library), str(source)],
        check=True,
        capture_output=True,
    )

    assert fatbin.scan(str(library)) == GpuCode(
        sass=frozenset({75, 89}), ptx=frozenset({89}), exact=frozenset({90})
    )


_PARTS = st.one_of(
    st.binary(max_size=80),
    st.just(fatbin.MAGIC),
    st.builds(
        lambda width, size, rest: fatbin.MAGIC + struct.pack("<HHQ", 1, width, size) + rest,
        st.integers(0, 65535),
        st.integers(0, 2**64 - 1),
        st.binary(max_size=160),
    ),
    st.builds(
        lambda kind, arch, flags: container(entry(kind, arch, flags)),
        st.integers(0, 3),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**22),
    ),
)


@given(st.lists(_PARTS, max_size=8).map(b"".join))
def test_no_content_breaks_the_scan(data: bytes) -> None:
    told = fatbin.told(list(fatbin.containers(data, 0, len(data))), "made")

    assert isinstance(told, GpuCode | Unknown)


@given(st.lists(st.tuples(st.sampled_from([_PTX, _SASS]), st.integers(10, 200)), min_size=1))
def test_every_entry_of_a_container_is_found(codes: list[tuple[int, int]]) -> None:
    data = b"\0" * 13 + container(*(entry(kind, arch) for kind, arch in codes)) + b"\0" * 5

    (found,) = fatbin.containers(data, 0, len(data))

    assert found == {(kind, arch, False, False) for kind, arch in codes}
