from __future__ import annotations

from pathlib import Path

import gguf_bytes as g
import pytest

from mtpdoctor import launch
from mtpdoctor.facts import Drafter, HubRepo, Launch, Target, Unknown
from mtpdoctor.gguf import Cause
from mtpdoctor.probes import model

REPO = "unsloth/gemma-4-E4B-it-GGUF"
COMMIT = "a" * 40
TAGGED = f"{REPO}:Q4_K_M"


def given(*words: str) -> Launch:
    return launch.parse(launch.split(["llama-server", *words]), launch.shipped())


def gguf(arch: str) -> bytes:
    return bytes(g.image([("general.architecture", g.STR, arch)]).raw)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    target, drafter = tmp_path / "target.gguf", tmp_path / "drafter.gguf"
    target.write_bytes(gguf("gemma4"))
    drafter.write_bytes(gguf("gemma4-assistant"))
    return str(target), str(drafter)


class Cache:
    """A cache of one repository in the layout of huggingface_hub."""

    def __init__(self, folder: Path) -> None:
        self.environment = {"HF_HUB_CACHE": str(folder)}
        self.place = folder / f"models--{REPO.replace('/', '--')}"
        self.snapshot = self.place / "snapshots" / COMMIT
        (self.place / "refs").mkdir(parents=True)
        (self.place / "refs/main").write_text(COMMIT, "ascii")
        self.snapshot.mkdir(parents=True)

    def add(self, *names: str) -> None:
        for name in names:
            path = self.snapshot / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gguf("gemma4-assistant" if "mtp-" in name else "gemma4"))

    def probe(self, *words: str) -> model.Models:
        return model.probe(given(*words), self.environment)

    def path(self, name: str) -> str:
        return str(self.snapshot / name)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def arch(of: Target | Drafter | None) -> str | None:
    assert of is not None
    assert not isinstance(of.header, Unknown), of.header.reason
    return of.header.arch


def reason(of: Target | Drafter | None) -> str:
    assert of is not None
    assert isinstance(of.path, Unknown)
    return of.path.reason


def test_both_files_of_an_explicit_command_are_read(pair: tuple[str, str]) -> None:
    found = model.probe(given("-m", pair[0], "--spec-draft-model", pair[1]), {})

    assert (arch(found.target), arch(found.drafter)) == ("gemma4", "gemma4-assistant")
    assert found.target is not None
    assert found.drafter is not None
    assert (found.target.origin, found.drafter.origin) == ("-m", "--spec-draft-model")
    assert (found.target.named, found.target.path) == (pair[0], pair[0])
    assert found.hub is None


def test_the_last_path_counts(pair: tuple[str, str]) -> None:
    found = model.probe(given("-m", "first.gguf", "--model", pair[0]), {})

    assert arch(found.target) == "gemma4"


def test_a_path_of_the_environment_counts_less_than_the_commands(pair: tuple[str, str]) -> None:
    words = [f"LLAMA_ARG_MODEL={pair[1]}", "llama-server"]
    alone = launch.parse(launch.split(words), launch.shipped())
    both = launch.parse(launch.split([*words, "-m", pair[0]]), launch.shipped())

    found = model.probe(alone, {}).target

    assert arch(found) == "gemma4-assistant"
    assert found is not None
    assert found.origin == "LLAMA_ARG_MODEL"
    assert arch(model.probe(both, {}).target) == "gemma4"


def test_a_relative_path_starts_at_the_working_folder(
    pair: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(pair[0]).parent)

    found = model.probe(given("-m", "target.gguf"), {})

    assert arch(found.target) == "gemma4"


def test_a_command_without_a_model_has_neither() -> None:
    command = launch.Command(words=("llama-server", "-c", "4096"))

    found = model.probe(launch.parse(command, launch.shipped()), {})

    assert (found.target, found.drafter, found.hub) == (None, None, None)


def test_a_missing_file_is_trouble_with_its_cause(tmp_path: Path) -> None:
    found = model.probe(given("-m", str(tmp_path / "nope.gguf")), {}).target

    assert found is not None
    assert found.trouble is not None
    assert found.trouble.cause == Cause.MISSING
    assert found.header == Unknown(found.trouble.says)


def test_a_home_sign_that_no_shell_replaced_is_explained() -> None:
    found = model.probe(given("-m", "~/models/a.gguf"), {}).target

    assert found is not None
    assert found.trouble is not None
    assert "write the whole path" in found.trouble.hint


def test_a_file_that_is_no_gguf_keeps_the_place_of_the_trouble(tmp_path: Path) -> None:
    page = tmp_path / "a.gguf"
    page.write_text("<!doctype html><html></html>", "utf-8")

    found = model.probe(given("-m", str(page)), {}).target

    assert found is not None
    assert found.trouble is not None
    assert (found.trouble.cause, found.trouble.offset) == (Cause.HTML, 0)


@pytest.mark.parametrize(
    "words",
    [("-mu", "https://example.org/a.gguf"), ("-dr", "gemma3"), ("--gpt-oss-20b-default",)],
)
def test_what_the_server_downloads_by_itself_is_unknown(words: tuple[str, ...]) -> None:
    found = model.probe(given(*words), {}).target

    assert found is not None
    assert isinstance(found.path, Unknown)
    assert found.trouble is None


def test_a_repository_leads_to_target_and_root_drafter(cache: Cache) -> None:
    cache.add("gemma-4-E4B-it-Q4_K_M.gguf", "mtp-gemma-4-E4B-it.gguf")

    found = cache.probe("-hf", TAGGED, "--spec-type", "draft-mtp")

    assert (arch(found.target), arch(found.drafter)) == ("gemma4", "gemma4-assistant")
    assert found.target is not None
    assert found.drafter is not None
    assert (found.target.named, found.target.origin) == (TAGGED, "-hf")
    assert found.drafter.origin == "found beside the target of -hf"
    assert found.drafter.path == cache.path("mtp-gemma-4-E4B-it.gguf")
    assert isinstance(found.hub, HubRepo)
    assert found.hub.revision == COMMIT


@pytest.mark.parametrize("types", [(), ("--spec-type", "ngram-simple"), ("--spec-type", "none")])
def test_a_drafter_is_not_looked_for_unless_mtp_is_asked_for(
    cache: Cache, types: tuple[str, ...]
) -> None:
    cache.add("gemma-4-E4B-it-Q4_K_M.gguf", "mtp-gemma-4-E4B-it.gguf")

    assert cache.probe("-hf", TAGGED, *types).drafter is None


def test_kinds_of_drafting_add_up(cache: Cache) -> None:
    cache.add("a-Q4_K_M.gguf", "mtp-a.gguf")
    types = ("--spec-type", "draft-mtp,ngram-simple", "--spec-type", "ngram-mod")

    assert arch(cache.probe("-hf", REPO, *types).drafter) == "gemma4-assistant"


def test_an_explicit_drafter_wins_over_a_found_one(cache: Cache, pair: tuple[str, str]) -> None:
    cache.add("a-Q4_K_M.gguf", "mtp-a.gguf")

    found = cache.probe("-hf", REPO, "--spec-type", "draft-mtp", "-md", pair[1]).drafter

    assert found is not None
    assert found.path == pair[1]


def test_a_repository_outranks_a_path(cache: Cache, pair: tuple[str, str]) -> None:
    cache.add("a-Q4_K_M.gguf")

    found = cache.probe("-m", pair[1], "-hf", REPO).target

    assert found is not None
    assert found.path == cache.path("a-Q4_K_M.gguf")


def test_a_file_of_the_repository_outranks_its_tag(cache: Cache) -> None:
    cache.add("a-Q4_K_M.gguf", "a-Q8_0.gguf")

    found = cache.probe("-hf", TAGGED, "-hff", "a-Q8_0.gguf").target

    assert found is not None
    assert found.path == cache.path("a-Q8_0.gguf")


def test_a_repository_that_is_not_cached_is_unknown(tmp_path: Path) -> None:
    environment = {"HF_HUB_CACHE": str(tmp_path)}

    found = model.probe(given("-hf", TAGGED, "--spec-type", "draft-mtp"), environment)

    assert f"not in the local cache at {tmp_path}" in reason(found.target)
    assert found.drafter is None
    assert found.hub is not None
    assert isinstance(found.hub.revision, Unknown)


def test_a_tag_that_is_not_cached_is_unknown_and_no_other_file_is_taken(cache: Cache) -> None:
    cache.add("a-Q8_0.gguf")

    assert "only a smoke run may download it" in reason(cache.probe("-hf", TAGGED).target)


def test_an_unfinished_download_is_unknown_online_and_missing_offline(cache: Cache) -> None:
    (cache.snapshot / "a-Q4_K_M.gguf").symlink_to("../../blobs/0123")

    online = cache.probe("-hf", REPO).target
    offline = cache.probe("-hf", REPO, "--offline").target

    assert "not been downloaded completely" in reason(online)
    assert offline is not None
    assert offline.trouble is not None
    assert offline.trouble.cause == Cause.MISSING


def test_a_preset_repository_is_not_one_model(cache: Cache) -> None:
    cache.add("a-Q4_K_M.gguf", "preset.ini")

    assert "preset" in reason(cache.probe("-hf", REPO).target)


@pytest.mark.parametrize("repo", ["../../etc", "gemma", "a/b/c", ""])
def test_what_is_no_repository_is_unknown(cache: Cache, repo: str) -> None:
    assert "user/model" in reason(cache.probe("-hf", repo).target)


def test_a_drafters_repository_leads_to_its_own_drafter(
    cache: Cache, pair: tuple[str, str]
) -> None:
    cache.add("a-Q8_0.gguf", "mtp-a.gguf")

    found = cache.probe("-m", pair[0], "-hfd", f"{REPO}:Q8_0").drafter

    assert found is not None
    assert found.path == cache.path("mtp-a.gguf")


def test_a_drafters_repository_without_one_of_that_name_leads_to_its_model(
    cache: Cache, pair: tuple[str, str]
) -> None:
    cache.add("drafter-Q8_0.gguf")

    found = cache.probe("-m", pair[0], "-hfd", f"{REPO}:Q8_0").drafter

    assert found is not None
    assert found.path == cache.path("drafter-Q8_0.gguf")


def test_the_target_is_not_taken_for_its_drafter_because_the_cache_has_no_other(
    cache: Cache,
) -> None:
    cache.add("a-Q4_K_M.gguf")

    found = cache.probe("-hf", TAGGED, "-hfd", TAGGED, "--spec-type", "draft-mtp").drafter

    assert "no mtp-*.gguf" in reason(found)


def test_commands_that_load_the_same_have_the_same_names() -> None:
    first = given("-m", "a.gguf", "-c", "4096", "--spec-type", "draft-mtp")
    same = given("-c", "8192", "--model", "a.gguf", "--spec-type", "draft-mtp")
    other = given("-m", "b.gguf", "--spec-type", "draft-mtp")

    assert model.names(first) == model.names(same)
    assert model.names(first) != model.names(other)
