"""What NVIDIA's own library, NVML, says of the GPUs; it loads nothing onto them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal, TypeVar

from mtpdoctor.facts import Gpu, Gpus, Unknown
from mtpdoctor.visible import visible

T = TypeVar("T")

_MOST = 64
"""GPUs that are looked at; a count above is nonsense, or no machine for a doctor's static check."""

_LONGEST_NAME = 96
_LONGEST_SUMMARY = 500

# nvmlReturn_t, in words. https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html
_SAYS = {
    1: "NVML was not initialised, although it said so",
    3: "the driver does not report it for this GPU",
    4: "no permission to ask the NVIDIA driver",
    6: "the driver does not know it",
    8: "the GPU's external power is not connected",
    9: "the NVIDIA driver is not loaded",
    10: "the NVIDIA driver did not answer in time",
    12: "the library of the NVIDIA driver is not there",
    13: "the installed NVIDIA driver is too old to be asked this",
    15: "the GPU is lost: it has fallen off the bus, or is no longer accessible",
    16: "the GPU must be reset before it can be used again",
    17: "the operating system blocked the request",
    18: "the driver's library and its kernel module are of different versions",
    999: "the driver gave no reason",
}
_State = Literal["no-driver", "no-library", "no-permission", "failed"]
# What to say, and do, when NVML cannot even start.
_NO_NVML: dict[int, tuple[_State, str]] = {
    4: (
        "no-permission",
        "no permission to ask the NVIDIA driver: this user may not open /dev/nvidiactl",
    ),
    9: (
        "no-driver",
        "the NVIDIA driver is installed but not loaded: load its kernel module, or reboot",
    ),
    12: (
        "no-library",
        "no NVIDIA driver is installed (no libnvidia-ml.so.1), or a container hides it",
    ),
    18: (
        "failed",
        "the NVIDIA driver was updated while its old kernel module still runs: reboot",
    ),
}


def probe() -> Gpus:
    """Ask NVML for every GPU: name, compute capability, memory, driver. Never raises."""
    try:
        import pynvml as nvml
    except ImportError:
        return Gpus(state="no-library", says="the Python package nvidia-ml-py is not installed")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return _not_started(_code(error))
    except (OSError, ValueError) as error:
        return Gpus(state="failed", says=f"NVML failed: {visible(str(error))}")
    try:
        return _asked(nvml)
    finally:
        _ask(nvml, nvml.nvmlShutdown)


def _not_started(code: int) -> Gpus:
    state, says = _NO_NVML.get(code, ("failed", f"NVML does not start: {_words(code)}"))
    nothing = Unknown(says)
    return Gpus(state=state, says=says, driver=nothing, cuda=nothing)


def _asked(nvml: ModuleType) -> Gpus:
    driver = _text(_ask(nvml, nvml.nvmlSystemGetDriverVersion))
    cuda = _ask(nvml, nvml.nvmlSystemGetCudaDriverVersion_v2)
    version = cuda if isinstance(cuda, Unknown) else _cuda(cuda)
    count = _ask(nvml, nvml.nvmlDeviceGetCount)
    if isinstance(count, Unknown):
        says = f"the number of GPUs is unknown: {count.reason}"
        return Gpus(state="failed", says=says, driver=driver, cuda=version)
    gpus = tuple(_gpu(nvml, index) for index in range(min(count, _MOST)))
    unread = tuple(gpu for gpu in gpus if isinstance(gpu.capability, Unknown))
    if not gpus:
        says = "the NVIDIA driver runs, and sees no GPU"
        return Gpus(state="none", says=says, driver=driver, cuda=version)
    says = _summary(gpus)
    if count > _MOST:
        says += f"; {count - _MOST} more were not looked at"
    return Gpus(
        state="present" if len(unread) < len(gpus) else "failed",
        says=says,
        gpus=gpus,
        driver=driver,
        cuda=version,
    )


def _gpu(nvml: ModuleType, index: int) -> Gpu:
    handle = _ask(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    if isinstance(handle, Unknown):
        return Gpu(
            index=index, name=handle, capability=handle, total_bytes=handle, free_bytes=handle
        )
    capability = _ask(nvml, nvml.nvmlDeviceGetCudaComputeCapability, handle)
    memory = _ask(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    total: int | Unknown
    free: int | Unknown
    if isinstance(memory, Unknown):
        total = free = memory
    elif not 0 < memory.total >= memory.free:
        total = free = Unknown("the driver reports more free memory than there is")
    else:
        total, free = int(memory.total), int(memory.free)
    return Gpu(
        index=index,
        name=_text(_ask(nvml, nvml.nvmlDeviceGetName, handle)),
        capability=capability if isinstance(capability, Unknown) else _capability(*capability),
        total_bytes=total,
        free_bytes=free,
    )


def _ask(nvml: ModuleType, function: Callable[..., T], *arguments: Any) -> T | Unknown:
    """Call NVML; each way in which it refuses is an answer in words."""
    try:
        return function(*arguments)
    except nvml.NVMLError as error:
        return Unknown(_words(_code(error)))
    except UnicodeDecodeError as error:
        # The binding insists on UTF-8; the bytes are the answer all the same.
        return error.object  # type: ignore[return-value]
    except (OSError, ValueError) as error:
        return Unknown(f"NVML failed: {visible(str(error))}")


def _code(error: Exception) -> int:
    value = getattr(error, "value", None)
    return value if isinstance(value, int) else 999


def _words(code: int) -> str:
    says = _SAYS.get(code)
    return f"{says} (NVML error {code})" if says else f"unexpected NVML error {code}"


def _text(answer: str | bytes | Unknown) -> str | Unknown:
    if isinstance(answer, Unknown):
        return answer
    text = answer if isinstance(answer, str) else answer.decode("utf-8", "backslashreplace")
    return visible(text, _LONGEST_NAME) or Unknown("the driver reports an empty text")


def _capability(major: int, minor: int) -> int | Unknown:
    if 1 <= major <= 99 and 0 <= minor <= 9:
        return major * 10 + minor
    return Unknown(f"the driver reports compute capability {major}.{minor}")


def _cuda(number: int) -> str | Unknown:
    """Read 13000 as ``13.0``."""
    if not 1000 <= number < 1_000_000:
        return Unknown(f"the driver reports CUDA version {number}")
    return f"{number // 1000}.{number % 1000 // 10}"


def _summary(gpus: tuple[Gpu, ...]) -> str:
    """Say what is there: ``3 GPUs: 2 x NVIDIA H100; GPU 2 cannot be read, …``."""
    said = Counter(
        gpu.name
        if not isinstance(gpu.name, Unknown)
        else f"GPU {gpu.index} cannot be read, {gpu.name.reason}"
        for gpu in gpus
    )
    each = (words if number == 1 else f"{number} x {words}" for words, number in said.items())
    return visible(f"{len(gpus)} GPU{'s' * (len(gpus) > 1)}: " + "; ".join(each), _LONGEST_SUMMARY)
