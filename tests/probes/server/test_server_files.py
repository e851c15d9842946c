from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.facts import Architectures, Unknown
from mtpdoctor.probes.server import architectures, binary, devices, elf, literals

Write = Callable[[Mapping[str, bytes]], Path]
_CONTROLS = b"\0".join(name.encode() for name in architectures.CONTROLS)


def _looked(text: bytes, *names: str) -> Architectures:
    return architectures.look(b"\0" + text + b"\0", frozenset(names))


def test_a_whole_literal_is_present_and_a_missing_one_absent() -> None:
    found = _looked(_CONTROLS + b"\0gemma4", "gemma4", "gemma4-assistant")

    assert "gemma4" in found.names
    assert "gemma4-assistant" in found.absent


def test_the_end_of_a_longer_literal_is_neither_present_nor_absent() -> None:
    found = _looked(_CONTROLS + b"\0nomic-bert", "bert")

    assert "bert" not in found.names | found.absent


def test_the_end_of_a_symbol_is_no_literal() -> None:
    found = _looked(_CONTROLS + b"\x0028llama_model_gemma4_assistant", "gemma4_assistant")

    assert "gemma4_assistant" in found.absent


def test_without_the_controls_nothing_is_absent() -> None:
    found = _looked(b"llama\0gemma4", "gemma4", "gemma4-assistant")

    assert "gemma4" in found.names
    assert not found.absent


def test_symbol_tables_and_code_are_not_searched(elf_file: Write) -> None:
    path = elf_file({".rodata": b"\0" + _CONTROLS + b"\0", ".dynstr": b"\0gemma4\0"})

    found = architectures.scan(str(path), ["gemma4"])

    assert isinstance(found, Architectures)
    assert "gemma4" in found.absent


def test_a_file_without_any_name_is_unknown(elf_file: Write) -> None:
    found = architectures.scan(str(elf_file({".rodata": b"\0hello\0"})))

    assert isinstance(found, Unknown)


def test_a_static_server_says_which_backends_are_in_it(elf_file: Write) -> None:
    path = elf_file({".rodata": b"\0%s: found %d ROCm devices\0ggml_vulkan: Found\0"})
    text = literals.read(str(path))

    assert isinstance(text, bytes)
    assert literals.backends(text) == {"hip", "vulkan"}


@given(st.binary(max_size=300))
def test_no_bytes_break_the_search_for_names(data: bytes) -> None:
    found = _looked(data, "gemma4")

    assert not found.names & found.absent


@given(st.binary(max_size=200))
def test_no_bytes_break_the_reader_of_sections(data: bytes) -> None:
    head = b"\x7fELF\x02\x01" + data

    assert all(part.offset + part.size <= len(head) for part in elf.sections(head))


def test_real_sections_are_found(elf_file: Write) -> None:
    data = elf_file({".rodata": b"abc", ".text": b"x"}).read_bytes()
    found = {part.name: data[part.offset : part.offset + part.size] for part in elf.sections(data)}

    assert found[".rodata"] == b"abc"


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("libllama.so", "llama"),
        ("libllama.so.0.1.0", "llama"),
        ("libllama-f02ac8d1.so.0.0.1", "llama"),
        ("libggml-cuda-3851d25f.so", "ggml-cuda"),
        ("ggml-cpu-haswell.dll", "ggml-cpu-haswell"),
        ("libggml-base.0.dylib", "ggml-base"),
    ],
)
def test_a_library_is_known_by_its_stem(name: str, stem: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()

    assert binary.beside([str(tmp_path)]) == {stem: str(tmp_path / name)}


@pytest.mark.parametrize("name", ["libllama-common.so", "llama-server", "libvulkan.so.1"])
def test_other_files_are_no_libraries_of_interest(name: str, tmp_path: Path) -> None:
    (tmp_path / name).touch()

    assert not binary.beside([str(tmp_path)])


def test_libraries_in_the_lib_folder_beside_bin_are_found(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libggml-cuda.so").touch()

    assert "ggml-cuda" in binary.beside([str(tmp_path / "bin")])


def test_a_script_at_rest_hides_what_it_runs(tmp_path: Path) -> None:
    script = tmp_path / "llama-server"
    script.write_text("#!/bin/sh\nexec true\n")

    assert isinstance(binary.at_rest(str(script)), Unknown)


def test_a_static_server_is_its_own_library(elf_file: Write) -> None:
    program = binary.at_rest(str(elf_file({".rodata": b"x"})))

    assert isinstance(program, binary.Program)
    assert program.static
    assert program.holder("llama") == program.executable


def test_backends_beside_a_running_server_are_added_and_cpu_code_is_none(tmp_path: Path) -> None:
    for name in ("libggml.so", "libggml-base.so", "libggml-cpu-zen4.so", "libggml-cuda.so"):
        (tmp_path / name).touch()
    running = binary.Program(
        executable="/bin/x", libraries={"ggml": str(tmp_path / "libggml.so")}, seen=True
    )

    assert binary.complete(running).backends == {"cuda"}


def test_devices_are_read_with_their_memory() -> None:
    text = (
        "ggml_cuda_init: found 1 CUDA devices:\nAvailable devices:\n"
        "  CUDA0: NVIDIA GeForce RTX 3090 (24124 MiB, 23871 MiB free)\n"
        "  Vulkan0: AMD Radeon (RADV NAVI31) (24560 MiB, 24100 MiB free)\n"
    )

    found = devices.read(text)

    assert found is not None
    assert [(each.name, each.description) for each in found] == [
        ("CUDA0", "NVIDIA GeForce RTX 3090"),
        ("Vulkan0", "AMD Radeon (RADV NAVI31)"),
    ]
    assert (found[0].total_mib, found[0].free_mib) == (24124, 23871)


def test_a_list_of_nothing_is_no_device() -> None:
    assert devices.read("Available devices:\n  (none)\n") == ()


def test_no_heading_is_no_list() -> None:
    assert devices.read("error: invalid argument: --list-devices\n") is None


@given(st.text(max_size=300))
def test_no_list_of_devices_breaks_the_reader(text: str) -> None:
    found = devices.read("Available devices:\n" + text)

    assert found is not None
    assert all(each.description.isprintable() for each in found)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CUDA0", "cuda"),
        ("ROCm1", "hip"),
        ("Vulkan0", "vulkan"),
        ("Metal", "metal"),
        ("MTL0", "metal"),
        ("RPC0[10.0.0.1:50052]", "rpc"),
        ("CPU", ""),
    ],
)
def test_the_backend_of_a_device_is_told_from_its_name(name: str, kind: str) -> None:
    assert devices.backend(name) == kind


def test_cpu_features_are_those_of_the_cpu_part_of_system_info() -> None:
    line = (
        "0.00.002 I cmn: system_info: n_threads = 2 (n_threads_batch = 2) / 2 | "
        "CUDA : ARCHS = 890 | USE_GRAPHS = 1 | CPU : SSE3 = 1 | AVX512 = 0 | AMX_INT8 = 1 | "
        "REPACK = 1 | \nsrv: next\n"
    )

    assert devices.cpu_features(line) == frozenset({"SSE3", "AMX_INT8", "REPACK"})


def test_without_a_system_info_line_nothing_is_said_of_the_cpu() -> None:
    assert devices.cpu_features("CPU : AVX2 = 1 |\n") is None
