"""Every entry of the knowledge stands on some check's page, and the lists of them are current."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mtpdoctor import knowledge

BOOK = knowledge.load()
CHECKS = Path(__file__).parents[2] / "checks" / "mtpdoctor_checks"
UPDATE = os.environ.get("MTPDOCTOR_UPDATE") == "1"
LISTS = {"build_too_old": "features", "server_failed": "signatures"}


def rows(kind: str) -> str:
    if kind == "features":
        lines = ["| since | what | entry |", "|---|---|---|"]
        lines += [f"| {f.since} | {f.title} | {f.id} |" for f in BOOK.features]
    else:
        lines = ["| line | means | told by |", "|---|---|---|"]
        for entry in BOOK.signatures:
            means = re.sub(r"(?:\{\d\})+", "…", entry.says).replace("|", "\\|")
            told = "never told" if entry.meaning == "benign" else entry.check or "server-failed"
            lines.append(f"| {entry.id} | {means} | {told} |")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("folder", LISTS)
def test_a_list_of_the_knowledge_on_a_page_is_current(folder: str) -> None:
    kind, page = LISTS[folder], CHECKS / folder / "README.md"
    text = page.read_text("utf-8")
    before, start, rest = text.partition(f"<!-- knowledge: {kind} -->\n")
    _, end, after = rest.partition("<!-- end of knowledge -->")
    current = before + start + rows(kind) + end + after
    if UPDATE:
        page.write_text(current, "utf-8")
        return

    assert text == current, "run: MTPDOCTOR_UPDATE=1 .venv/bin/pytest tests/patients"


def test_every_knowledge_entry_is_shown_on_some_page() -> None:
    text = "\n".join(page.read_text("utf-8") for page in sorted(CHECKS.glob("*/README.md")))
    shown = set(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+|backtrace|assertion", text))
    parts = (BOOK.features, BOOK.bugs, BOOK.flags, BOOK.values, BOOK.signatures)

    assert [entry.id for part in parts for entry in part if entry.id not in shown] == []
