"""The README says what the program says; ``MTPDOCTOR_UPDATE=1`` writes it anew."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mtpdoctor import registry
from mtpdoctor.options import parser

README = Path(__file__).parents[1] / "README.md"


def options() -> str:
    return f"```text\n{parser().format_help().strip()}\n```"


def checks() -> str:
    shipped = [(id, c) for id, c in registry.load().checks.items() if "/" not in id]
    rows = [
        f"| [`{id}`](checks/mtpdoctor_checks/{id.replace('-', '_')}/README.md) | {check.title} |"
        for id, check in sorted(shipped)
    ]
    return "\n".join(("| check | finds that |", "|---|---|", *rows))


@pytest.mark.parametrize(("part", "made"), [("help", options), ("checks", checks)])
def test_the_readme_is_current(
    part: str, made: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = README.read_text("utf-8")
    pattern = re.compile(rf"(<!-- {part} -->\n).*?(<!-- /{part} -->)", re.DOTALL)
    wanted = pattern.sub(lambda found: f"{found[1]}{made()}\n{found[2]}", text)
    if os.environ.get("MTPDOCTOR_UPDATE"):
        README.write_text(wanted, "utf-8")

    assert wanted == README.read_text("utf-8"), (
        "run: MTPDOCTOR_UPDATE=1 .venv/bin/pytest tests/test_readme.py"
    )
