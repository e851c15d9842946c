from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hub import Hub
from hypothesis import given
from hypothesis import strategies as st

from mtpdoctor.facts import HubRepo, Unknown
from mtpdoctor.probes import hub as probe

REPO = "org/name-GGUF"
FILES = {"model-Q4_K_M.gguf": b"GGUF model", "mtp-model.gguf": b"GGUF drafter", "README.md": b"# x"}
COMMIT = "a" * 40
_DOWNLOAD = """
import sys
from huggingface_hub import hf_hub_download
for file in sys.argv[2:]:
    print(hf_hub_download(sys.argv[1], file))
"""


def downloading(hub: Hub, home: Path, *files: str) -> subprocess.Popen[str]:
    """Start the real client, which fills the cache below *home* and says where the files are."""
    return subprocess.Popen(
        [sys.executable, "-c", _DOWNLOAD, hub.repo, *files],
        env={"PATH": "", "HOME": str(home), **hub.environment(home)},
        stdout=subprocess.PIPE,
        text=True,
    )


def snapshot(cache: Path, repo: str = REPO, commit: str = COMMIT, ref: str = "main") -> Path:
    place = cache / f"models--{repo.replace('/', '--')}"
    folder = place / "snapshots" / commit
    folder.mkdir(parents=True)
    (place / "blobs").mkdir(exist_ok=True)
    (place / "refs").mkdir(exist_ok=True)
    (place / "refs" / ref).write_text(commit, "ascii")
    return folder


def held(cache: Path, repo: str = REPO) -> HubRepo:
    found = probe.cached(repo, {"HF_HUB_CACHE": str(cache)})
    assert isinstance(found, HubRepo), found
    return found


def test_what_huggingface_hub_downloaded_is_found_where_it_says(tmp_path: Path) -> None:
    with Hub(REPO, FILES) as hub:
        said, _ = downloading(hub, tmp_path, "mtp-model.gguf", "model-Q4_K_M.gguf").communicate()
    environment = {"HF_HOME": str(tmp_path)}

    found = probe.cached(REPO, environment)

    assert isinstance(found, HubRepo)
    assert (found.revision, found.unfinished) == (hub.commit, ())
    assert found.files == ("model-Q4_K_M.gguf", "mtp-model.gguf")
    assert said.split() == [probe.path(found, name, environment) for name in reversed(found.files)]


def test_a_download_that_was_killed_is_told_apart(tmp_path: Path) -> None:
    big = b"GGUF" + b"x" * 300_000
    with Hub(REPO, {**FILES, "big.gguf": big}, stall={"big.gguf": 200_000}) as hub:
        client = downloading(hub, tmp_path, "mtp-model.gguf", "big.gguf")
        assert hub.stalled.wait(100)
        client.kill()
        client.communicate()

    found = held(tmp_path / "hub")

    assert found.files == ("mtp-model.gguf",)
    assert len(found.unfinished) == 1
    assert found.unfinished[0].startswith(f"blobs/{hub.oid('big.gguf')}")


def test_asking_the_cache_touches_no_network(tmp_path: Path) -> None:
    with Hub(REPO, FILES) as hub:
        found = probe.cached(REPO, hub.environment(tmp_path))

    assert isinstance(found, Unknown)
    assert hub.requests == []


def test_what_is_not_cached_says_where_it_looked(tmp_path: Path) -> None:
    found = probe.cached(REPO, {"HF_HUB_CACHE": str(tmp_path)})

    assert found == Unknown(
        f"{REPO} is not in the local cache at {tmp_path}; only a smoke run may download it"
    )


def test_a_link_to_a_missing_blob_is_unfinished(tmp_path: Path) -> None:
    folder = snapshot(tmp_path)
    (folder / "here.gguf").write_bytes(b"GGUF")
    (folder / "gone.gguf").symlink_to("../../blobs/0123")

    found = held(tmp_path)

    assert (found.files, found.unfinished) == (("here.gguf",), ("gone.gguf",))


def test_the_snapshot_of_main_is_the_one_that_counts(tmp_path: Path) -> None:
    (snapshot(tmp_path, commit="b" * 40, ref="another") / "old.gguf").write_bytes(b"GGUF")
    (snapshot(tmp_path, commit="a" * 40) / "new.gguf").write_bytes(b"GGUF")

    assert held(tmp_path).files == ("new.gguf",)


def test_files_in_folders_are_listed_with_their_folder(tmp_path: Path) -> None:
    folder = snapshot(tmp_path) / "BF16"
    folder.mkdir()
    (folder / "a.gguf").write_bytes(b"GGUF")

    assert held(tmp_path).files == ("BF16/a.gguf",)


@pytest.mark.parametrize("text", ["", "../../../etc", "not-a-commit", "a" * 39, "\0" * 40])
def test_a_ref_that_is_no_commit_leads_nowhere(tmp_path: Path, text: str) -> None:
    folder = snapshot(tmp_path)
    (folder.parents[1] / "refs" / "main").write_text(text, "utf-8")

    assert isinstance(probe.cached(REPO, {"HF_HUB_CACHE": str(tmp_path)}), Unknown)


def test_a_copy_of_an_older_build_is_mentioned(tmp_path: Path) -> None:
    old = tmp_path / ".cache/llama.cpp/org_name-GGUF_model-Q4_K_M.gguf"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"GGUF")

    found = probe.cached(REPO, {"HOME": str(tmp_path)})

    assert isinstance(found, Unknown)
    assert str(old) in found.reason


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"LLAMA_CACHE": "/l", "HF_HUB_CACHE": "/c", "HF_HOME": "/h"}, "/l"),
        ({"HF_HUB_CACHE": "/c", "HF_HOME": "/h"}, "/c"),
        ({"HUGGINGFACE_HUB_CACHE": "/g", "HF_HOME": "/h"}, "/g"),
        ({"HF_HOME": "/h", "XDG_CACHE_HOME": "/x"}, "/h/hub"),
        ({"HF_HOME": "", "XDG_CACHE_HOME": "/x", "HOME": "/r"}, "/x/huggingface/hub"),
        ({"HOME": "/r"}, "/r/.cache/huggingface/hub"),
    ],
)
def test_the_cache_lies_where_llama_server_looks(environment: dict[str, str], place: str) -> None:
    assert probe.folder(environment).as_posix() == place


@pytest.mark.parametrize(
    "repo",
    ["../x", "a/../b", "a/b/c", "a", "a/", "/b", "a//b", "a/.b", "a/b.", "a/b\0", "a/" + "b" * 300],
)
def test_what_is_no_repository_never_becomes_a_path(repo: str) -> None:
    found = probe.cached(repo, {"HF_HUB_CACHE": "/nonexistent"})

    assert isinstance(found, Unknown)
    assert "user/model" in found.reason


@given(repo=st.text(max_size=40))
def test_a_repository_that_passes_has_one_folder_and_no_way_up(repo: str) -> None:
    if probe.is_repo(repo):
        assert repo.count("/") == 1
        assert ".." not in repo
        assert repo.isascii()
