from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.facts import Host, Unknown
from mtpdoctor.probes import cgroup, host

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads the files of Linux")

GIB = 1 << 30
# Captured, shortened to what is read: a Zen 5 server, a Raspberry Pi 5, a 4-core container.
AMD = """processor\t: 0
vendor_id\t: AuthenticAMD
model\t\t: 2
model name\t: AMD EPYC 9555 64-Core Processor
flags\t\t: fpu sse4_2 avx2 avx512f avx512_vnni

processor\t: 1
model\t\t: 2
model name\t: AMD EPYC 9555 64-Core Processor
flags\t\t: fpu sse4_2 avx2 avx512f avx512_vnni
"""
PI = """processor\t: 0
BogoMIPS\t: 108.00
Features\t: fp asimd evtstrm aes asimddp
CPU implementer\t: 0x41
CPU part\t: 0xd0b

Revision\t: d04170
Model\t\t: Raspberry Pi 5 Model B Rev 1.0
"""
MEMINFO = """MemTotal:       16384000 kB
MemFree:         1000000 kB
MemAvailable:   12000000 kB
"""
STATUS = "Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8,10-11\nMems_allowed:\t1\n"


NOTHING: Mapping[str, str] = MappingProxyType({})


def tree(folder: Path, files: Mapping[str, str] = NOTHING) -> Path:
    """Write a captured ``/``: a plain server, and *files* in place of its own or beside them."""
    every = {
        "proc/cpuinfo": AMD,
        "proc/meminfo": MEMINFO,
        "proc/self/status": STATUS,
        "proc/self/cgroup": "0::/\n",
        "proc/sys/kernel/osrelease": "6.8.0-45-generic\n",
        "proc/version": "Linux version 6.8.0-45-generic (buildd@lcy02)\n",
        "etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 24.04.1 LTS"\n',
    } | dict(files)
    for path, text in every.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return folder


def seen(
    folder: Path, files: Mapping[str, str] = NOTHING, environment: Mapping[str, str] = NOTHING
) -> Host:
    return host.probe(tree(folder, files), environment=environment)


def test_this_very_machine_is_read() -> None:
    here = host.probe()

    assert here.system == "Linux"
    assert not isinstance(here.cpus, Unknown)
    assert here.cpus >= 1
    assert not isinstance(here.total_bytes, Unknown)
    assert not isinstance(here.available_bytes, Unknown)
    assert 0 < here.available_bytes <= here.total_bytes


def test_a_plain_server_is_read_from_its_files(tmp_path: Path) -> None:
    there = seen(tmp_path)

    assert there.release == "Ubuntu 24.04.1 LTS, kernel 6.8.0-45-generic"
    assert there.cpu == "AMD EPYC 9555 64-Core Processor"
    assert there.cpu_features == frozenset({"fpu", "sse4_2", "avx2", "avx512f", "avx512_vnni"})
    assert there.cpus == 7
    assert there.total_bytes == 16384000 * 1024
    assert there.available_bytes == 12000000 * 1024
    assert there.container is None


def test_an_arm_board_is_named_by_its_model_and_features(tmp_path: Path) -> None:
    there = seen(tmp_path, {"proc/cpuinfo": PI})

    assert there.cpu == "Raspberry Pi 5 Model B Rev 1.0"
    assert there.cpu_features == frozenset({"fp", "asimd", "evtstrm", "aes", "asimddp"})


def test_an_instruction_that_one_core_lacks_is_not_claimed(tmp_path: Path) -> None:
    mixed = AMD.replace("avx512_vnni\n", "\n", 1)

    there = seen(tmp_path, {"proc/cpuinfo": mixed})

    assert there.cpu_features == frozenset({"fpu", "sse4_2", "avx2", "avx512f"})


def test_a_machine_without_proc_is_unknown_and_no_crash(tmp_path: Path) -> None:
    there = host.probe(tmp_path, environment={})

    for value in (
        there.cpu,
        there.cpus,
        there.cpu_features,
        there.total_bytes,
        there.available_bytes,
        there.container,
    ):
        assert isinstance(value, Unknown)


def test_a_container_with_a_namespace_of_its_own_is_limited_at_the_mounts_root(
    tmp_path: Path,
) -> None:
    there = seen(
        tmp_path,
        {
            "sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
            "sys/fs/cgroup/memory.current": f"{GIB}\n",
            "sys/fs/cgroup/cpu.max": "150000 100000\n",
        },
    )

    assert there.available_bytes == 3 * GIB
    assert there.cpus == 2


def test_the_tightest_limit_up_the_hierarchy_counts(tmp_path: Path) -> None:
    there = seen(
        tmp_path,
        {
            "proc/self/cgroup": "0::/user.slice/user-1000.slice/session-2.scope\n",
            "sys/fs/cgroup/user.slice/memory.max": f"{2 * GIB}\n",
            "sys/fs/cgroup/user.slice/memory.current": f"{GIB}\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/memory.max": "max\n",
            "sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope/memory.max": f"{8 * GIB}\n",
        },
    )

    assert there.available_bytes == GIB


def test_file_cache_that_is_not_in_use_counts_as_free(tmp_path: Path) -> None:
    there = seen(
        tmp_path,
        {
            "sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
            "sys/fs/cgroup/memory.current": f"{3 * GIB}\n",
            "sys/fs/cgroup/memory.stat": f"anon 1\ninactive_file {2 * GIB}\n",
        },
    )

    assert there.available_bytes == 3 * GIB


def test_version_1_groups_limit_too(tmp_path: Path) -> None:
    there = seen(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB // 2}\n",
            "sys/fs/cgroup/memory/memory.stat": f"total_inactive_file {GIB // 4}\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "300000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
    )

    assert there.available_bytes == 2 * GIB - GIB // 4
    assert there.cpus == 3


def test_no_limit_in_version_1_is_no_limit(tmp_path: Path) -> None:
    there = seen(
        tmp_path,
        {
            "proc/self/cgroup": "4:memory:/\n2:cpu:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
    )

    assert there.available_bytes == 12000000 * 1024
    assert there.cpus == 7


def test_a_limit_of_address_space_counts(tmp_path: Path) -> None:
    there = seen(
        tmp_path,
        {
            "proc/self/limits": f"Limit  Soft Limit  Hard Limit  Units\n"
            f"Max address space         {GIB}           unlimited            bytes\n"
        },
    )

    assert there.available_bytes == GIB


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        (".dockerenv", "", "docker"),
        ("run/.containerenv", 'engine="podman-4.9"\n', "podman"),
        ("run/systemd/container", "lxc\n", "lxc"),
        ("run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
        ("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n", "wsl"),
        ("proc/version", "Linux version 4.4.0-19041-Microsoft (Microsoft@MS.com)\n", "wsl"),
    ],
)
def test_each_kind_of_container_is_named(tmp_path: Path, path: str, text: str, name: str) -> None:
    assert seen(tmp_path, {path: text}).container == name


@pytest.mark.parametrize(
    ("variable", "name"),
    [("KUBERNETES_SERVICE_HOST", "kubernetes"), ("SINGULARITY_CONTAINER", "apptainer")],
)
def test_a_pod_is_named_before_the_runtime_below_it(
    tmp_path: Path, variable: str, name: str
) -> None:
    there = seen(tmp_path, {".dockerenv": ""}, {variable: "10.0.0.1"})

    assert there.container == name


def test_a_hostile_os_release_cannot_reach_the_terminal(tmp_path: Path) -> None:
    there = seen(tmp_path, {"etc/os-release": 'PRETTY_NAME="\x1b[2JUbuntu"\n'})

    assert there.release.isprintable()


@given(text=st.text())
def test_any_cpuinfo_gives_an_answer(text: str) -> None:
    answer = host.features(text)

    assert isinstance(answer, frozenset | Unknown)


@given(
    groups=st.text(),
    limit=st.text(alphabet="0123456789max -\n", max_size=30),
    quota=st.text(alphabet="0123456789max -\n", max_size=30),
)
def test_any_control_group_gives_limits_that_are_none_or_positive(
    tmp_path_factory: pytest.TempPathFactory, groups: str, limit: str, quota: str
) -> None:
    root = tree(
        tmp_path_factory.mktemp("root"),
        {
            "proc/self/cgroup": "0::/\n" + groups.encode("utf-8", "replace").decode(),
            "sys/fs/cgroup/memory.max": limit,
            "sys/fs/cgroup/cpu.max": quota,
        },
    )

    found = cgroup.limits(root)

    assert found.memory_left is None or found.memory_left >= 0
    assert found.cpus is None or found.cpus > 0
