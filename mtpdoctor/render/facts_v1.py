"""The ``facts`` part of the JSON report: what was seen of server, models and machine."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, TypeVar

from mtpdoctor.builds import Span
from mtpdoctor.facts import (
    Architectures,
    CommitDate,
    Device,
    Drafter,
    Facts,
    Gpu,
    GpuCode,
    Gpus,
    Host,
    HubRepo,
    Model,
    Server,
    StartFailure,
    Target,
    Unknown,
)
from mtpdoctor.gguf import Header
from mtpdoctor.launch import mask_text

T = TypeVar("T")


def document(facts: Facts) -> dict[str, Any]:
    return {
        "server": _or_absent(facts, Server, _server),
        "target": _or_absent(facts, Target, _model),
        "drafter": _or_absent(facts, Drafter, _model),
        "gpus": _or_absent(facts, Gpus, _gpus),
        "host": _or_absent(facts, Host, _host),
        "hub": _or_absent(facts, HubRepo, _hub),
    }


def _or_absent(facts: Facts, kind: type[T], write: Callable[[T], Any]) -> Any:
    value = facts.get(kind)
    return {"unknown": facts.why_absent(kind)} if value is None else write(value)


def _server(server: Server) -> dict[str, Any]:
    return {
        "named": server.named,
        "path": known_or_why(server.path),
        "binary": known_or_why(server.binary),
        "failure": known_or_why(server.failure, lambda failure: failure and _failure(failure)),
        "program": known_or_why(server.program),
        "banner": known_or_why(server.banner, mask_text),
        "build": known_or_why(server.build, _span),
        "build_how": server.build_how or None,
        "commit": known_or_why(server.commit),
        "version": known_or_why(server.version),
        "commit_date": known_or_why(server.commit_date, _commit_date),
        "spec_types": known_or_why(server.spec_types, sorted),
        "devices": known_or_why(
            server.devices, lambda devices: [_device(each) for each in devices]
        ),
        "backends": known_or_why(server.backends, sorted),
        "architectures": known_or_why(server.architectures, _architectures),
        "gpu_code": known_or_why(server.gpu_code, _gpu_code),
        "cpu_features": known_or_why(server.cpu_features, sorted),
    }


def _failure(failure: StartFailure) -> dict[str, Any]:
    return {
        "kind": failure.kind,
        "says": failure.says,
        "signal": failure.signal or None,
        "library": failure.library or None,
    }


def _span(span: Span) -> dict[str, Any]:
    return {"first": span.first.number, "last": None if span.is_open else span.last.number}


def _commit_date(day: CommitDate) -> dict[str, Any]:
    return {
        "earliest": day.earliest.isoformat(),
        "latest": day.latest.isoformat(),
        "how": day.how,
    }


def _device(device: Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "description": device.description,
        "total_mib": known_or_why(device.total_mib),
        "free_mib": known_or_why(device.free_mib),
    }


def _architectures(architectures: Architectures) -> dict[str, Any]:
    return {"present": sorted(architectures.names), "absent": sorted(architectures.absent)}


def _gpu_code(code: GpuCode) -> dict[str, Any]:
    return {"sass": sorted(code.sass), "exact": sorted(code.exact), "ptx": sorted(code.ptx)}


def _model(model: Model) -> dict[str, Any]:
    return {
        "named": mask_text(model.named),
        "origin": model.origin,
        "path": known_or_why(model.path),
        "trouble": None
        if model.trouble is None
        else {
            "cause": model.trouble.cause,
            "says": model.trouble.says,
            "offset": model.trouble.offset,
        },
        "header": known_or_why(model.header, _header),
    }


_LONGEST = 200
_SHOWN = (
    "block_count",
    "context_length",
    "embedding_length",
    "embedding_length_out",
    "nextn_predict_layers",
    "attention.head_count",
    "attention.key_length",
    "attention.key_length_swa",
    "attention.sliding_window",
    "attention.shared_kv_layers",
)


def _header(header: Header) -> dict[str, Any]:
    keys = {key: header.get(key) for key in _SHOWN}
    return {
        "arch": None if header.arch is None else header.arch[:_LONGEST],
        "version": header.version,
        "tensors": len(header.tensors),
        "types": sorted({tensor.type_name for tensor in header.tensors.values()}),
        "keys": {key: value for key, value in keys.items() if _is_plain(value)},
    }


def _is_plain(value: object) -> bool:
    """Whether a value of a file can stand in JSON: a finite number, or a short text."""
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) or (isinstance(value, str) and len(value) <= _LONGEST)


def _gpus(gpus: Gpus) -> dict[str, Any]:
    return {
        "state": gpus.state,
        "says": gpus.says,
        "driver": known_or_why(gpus.driver),
        "cuda": known_or_why(gpus.cuda),
        "gpus": [_gpu(gpu) for gpu in gpus.gpus],
    }


def _gpu(gpu: Gpu) -> dict[str, Any]:
    return {
        "index": gpu.index,
        "name": known_or_why(gpu.name),
        "capability": known_or_why(gpu.capability),
        "total_bytes": known_or_why(gpu.total_bytes),
        "free_bytes": known_or_why(gpu.free_bytes),
    }


def _host(host: Host) -> dict[str, Any]:
    return {
        "system": host.system,
        "release": host.release,
        "machine": host.machine,
        "cpu": known_or_why(host.cpu),
        "cpus": known_or_why(host.cpus),
        "cpu_features": known_or_why(host.cpu_features, sorted),
        "total_bytes": known_or_why(host.total_bytes),
        "available_bytes": known_or_why(host.available_bytes),
        "container": known_or_why(host.container),
    }


def _hub(hub: HubRepo) -> dict[str, Any]:
    return {"repo": hub.repo, "revision": known_or_why(hub.revision), "files": list(hub.files)}


def known_or_why(value: T | Unknown, write: Callable[[T], Any] = lambda value: value) -> Any:
    """Return *value* as JSON, or the reason why it is not known."""
    return {"unknown": value.reason} if isinstance(value, Unknown) else write(value)
