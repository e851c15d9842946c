"""Which drafter belongs to a target: told from its family, width and layers, never from its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from headers import GEMMA4, real

from mtpdoctor.facts import Target, Unknown
from mtpdoctor.findings import Advice, Download
from mtpdoctor.gguf import Header
from mtpdoctor_checks.pair import its_drafter


def target(name: str, named: str = "renamed.gguf", **changes: Any) -> Target:
    header = real(name)
    metadata = {**header.metadata, **changes}
    return Target(named=named, header=Header.of(metadata, dict(header.tensors)))


@pytest.mark.parametrize("name", GEMMA4)
def test_each_size_gets_its_own_drafter_in_q8_0_first(name: str) -> None:
    assert its_drafter(target(name)) == (
        Download(f"unsloth/{name}-GGUF", f"MTP/mtp-{name}-Q8_0.gguf"),
        Download(f"unsloth/{name}-GGUF", f"mtp-{name}.gguf"),
    )


def test_a_target_trained_to_be_quantized_gets_the_drafter_of_its_kind() -> None:
    (first, _) = its_drafter(target("gemma-4-12B-it", "gemma-4-12B-it-qat-UD-Q4_K_XL.gguf"))

    assert first == Download("unsloth/gemma-4-12B-it-qat-GGUF", "MTP/mtp-gemma-4-12B-it-Q8_0.gguf")


def test_a_name_alone_brings_no_drafter() -> None:
    (fix,) = its_drafter(Target(named="gemma-4-12B-it-Q8_0.gguf", header=Unknown("not read")))

    assert isinstance(fix, Advice)


@pytest.mark.parametrize("changes", [{"gemma4.block_count": 40}, {"gemma4.embedding_length": 4096}])
def test_a_size_that_was_never_published_gets_no_file_of_another(
    changes: dict[str, Any],
) -> None:
    (fix,) = its_drafter(target("gemma-4-12B-it", **changes))

    assert isinstance(fix, Advice)


def test_another_family_is_told_what_its_head_must_be() -> None:
    (fix,) = its_drafter(replace(target("Qwen3.6-27B"), named="Qwen3.6-27B-Q4_K_M.gguf"))

    assert isinstance(fix, Advice)
    assert "'qwen35', 5120 wide" in fix.says
