from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import pytest
from nvml.library import Driver, compile_stand_in

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is a Linux library")

RTX_4090 = (
    "driver 580.65.06",
    "cuda 13000",
    "count 1",
    "name.0 NVIDIA GeForce RTX 4090",
    "capability.0 8.9",
    "memory.0 25757220864 24000000000",
)
TWO = (
    *(line for line in RTX_4090 if not line.startswith("count")),
    "count 2",
    "name.1 NVIDIA B200",
    "capability.1 10.0",
    "memory.1 191503007744 190000000000",
)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_stand_in(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def driver(library: Path, tmp_path: Path) -> Driver:
    return Driver(library=library, folder=tmp_path)


def test_two_gpus_are_read_with_capability_and_memory(driver: Driver) -> None:
    seen = driver.probe(*TWO)

    assert seen == {
        "state": "present",
        "says": "2 GPUs: NVIDIA GeForce RTX 4090; NVIDIA B200",
        "driver": "580.65.06",
        "cuda": "13.0",
        "gpus": [
            {
                "index": 0,
                "name": "NVIDIA GeForce RTX 4090",
                "capability": 89,
                "total_bytes": 25757220864,
                "free_bytes": 24000000000,
            },
            {
                "index": 1,
                "name": "NVIDIA B200",
                "capability": 100,
                "total_bytes": 191503007744,
                "free_bytes": 190000000000,
            },
        ],
    }


@pytest.mark.parametrize(("told", "capability"), [("9.0", 90), ("12.1", 121), ("7.5", 75)])
def test_capability_is_ten_times_major_plus_minor(
    driver: Driver, told: str, capability: int
) -> None:
    seen = driver.probe("count 1", f"capability.0 {told}")

    assert seen["gpus"][0]["capability"] == capability


def test_nvml_is_shut_down_after_it_was_asked(driver: Driver) -> None:
    driver.probe(*RTX_4090)

    assert driver.calls == ["init", "shutdown"]


@pytest.mark.parametrize(
    ("code", "state", "says"),
    [
        (9, "no-driver", "installed but not loaded"),
        (4, "no-permission", "no permission"),
        (18, "failed", "reboot"),
        (15, "failed", "fallen off the bus"),
        (1, "failed", "not initialised"),
        (13, "failed", "too old"),
        (999, "failed", "gave no reason"),
        (77, "failed", "unexpected NVML error 77"),
    ],
)
def test_each_refusal_to_start_has_its_own_words(
    driver: Driver, code: int, state: str, says: str
) -> None:
    seen = driver.probe(f"fail.nvmlInitWithFlags {code}")

    assert (seen["state"], seen["gpus"]) == (state, [])
    assert says in seen["says"]
    assert seen["driver"] == {"unknown": seen["says"]}


def test_a_machine_without_the_library_says_so(tmp_path: Path) -> None:
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        pass
    else:
        pytest.skip("this machine has NVIDIA's own library")

    seen = Driver(library=None, folder=tmp_path).probe()

    assert seen["state"] == "no-library"
    assert "no NVIDIA driver is installed" in seen["says"]


def test_a_driver_without_a_gpu_is_no_failure(driver: Driver) -> None:
    seen = driver.probe("driver 580.65.06", "cuda 13000", "count 0")

    assert (seen["state"], seen["driver"], seen["cuda"]) == ("none", "580.65.06", "13.0")


def test_a_gpu_lost_before_it_is_opened_does_not_hide_the_other(driver: Driver) -> None:
    seen = driver.probe(*TWO, "fail.nvmlDeviceGetHandleByIndex_v2.0 15")

    assert seen["state"] == "present"
    assert "fallen off the bus" in seen["gpus"][0]["capability"]["unknown"]
    assert seen["gpus"][1]["capability"] == 100
    assert seen["says"].endswith("; NVIDIA B200")


def test_a_gpu_lost_while_its_memory_is_asked_keeps_what_was_read(driver: Driver) -> None:
    seen = driver.probe(*TWO, "fail.nvmlDeviceGetMemoryInfo.1 15")

    lost = seen["gpus"][1]
    assert (lost["name"], lost["capability"]) == ("NVIDIA B200", 100)
    assert "fallen off the bus" in lost["free_bytes"]["unknown"]
    assert seen["gpus"][0]["free_bytes"] == 24000000000


def test_nothing_but_lost_gpus_is_a_failure(driver: Driver) -> None:
    seen = driver.probe(*RTX_4090, "fail.nvmlDeviceGetHandleByIndex_v2 15")

    assert (seen["state"], len(seen["gpus"])) == ("failed", 1)
    assert "GPU 0 cannot be read" in seen["says"]


def test_a_driver_that_reports_less_as_under_wsl_leaves_only_that_unknown(driver: Driver) -> None:
    seen = driver.probe(
        *RTX_4090,
        "fail.nvmlSystemGetCudaDriverVersion_v2 3",
        "fail.nvmlDeviceGetMemoryInfo 3",
    )

    gpu = seen["gpus"][0]
    assert gpu["capability"] == 89
    assert "does not report it" in gpu["total_bytes"]["unknown"]
    assert "does not report it" in seen["cuda"]["unknown"]


def test_a_hostile_name_cannot_reach_the_terminal(driver: Driver) -> None:
    seen = driver.probe(
        "count 1", r"name.0 \x1b[2J\x1b]0;owned\x07 4090\xe2\x80\xae", "capability.0 8.9"
    )

    name = seen["gpus"][0]["name"]
    assert name.isprintable()
    assert "4090" in name


def test_a_name_that_is_no_utf8_is_shown_as_bytes(driver: Driver) -> None:
    seen = driver.probe("count 1", r"name.0 GPU \xff\xfe", "capability.0 8.9")

    assert seen["gpus"][0]["name"] == r"GPU \xff\xfe"


def test_a_name_too_long_for_the_binding_is_unknown(driver: Driver) -> None:
    seen = driver.probe("count 1", "name.0 " + "x" * 3000, "capability.0 8.9")

    assert "NVML error 7" in seen["gpus"][0]["name"]["unknown"]
    assert seen["gpus"][0]["capability"] == 89


@pytest.mark.parametrize(
    "line",
    ["capability.0 -1.0", "capability.0 8.77", "memory.0 0 0", "memory.0 5 9", "cuda -3"],
)
def test_a_nonsensical_answer_is_unknown(driver: Driver, line: str) -> None:
    key = line.split(maxsplit=1)[0]
    kept = [known for known in RTX_4090 if not known.startswith(key)]

    seen = driver.probe(*kept, line)

    gpu = seen["gpus"][0]
    values = (gpu["capability"], gpu["total_bytes"], seen["cuda"])
    assert sum(isinstance(value, dict) for value in values) == 1


def test_an_absurd_number_of_gpus_does_not_take_forever(driver: Driver) -> None:
    seen = driver.probe("count 4294967295", "capability.0 8.9")

    assert len(seen["gpus"]) == 64
    assert "more were not looked at" in seen["says"]
    assert len(seen["says"]) < 2000


def test_equal_gpus_are_counted_and_not_listed(driver: Driver) -> None:
    seen = driver.probe("count 2", "name.0 NVIDIA H100", "name.1 NVIDIA H100", "capability.0 9.0")

    assert seen["says"] == "2 GPUs: 2 x NVIDIA H100"
