"""The plugin in examples/ is installed for real, and its check stands beside the shipped ones."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import venv
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from pages.harness import answer, examples, rewritten

from mtpdoctor.checks import Check
from mtpdoctor.registry import GROUP

ROOT = Path(__file__).parents[1]
ACME = ROOT / "examples" / "acme"
PAGE = ACME / "mtpdoctor_acme" / "vram_budget" / "README.md"

Python = Callable[..., str]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Python:
    """A fresh environment with the plugin in it; what it depends on is lent by this one."""
    folder = tmp_path_factory.mktemp("acme")
    venv.create(folder / "venv", with_pip=True, symlinks=os.name != "nt")
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    _lend(python)
    source = shutil.copytree(ACME, folder / "acme")

    def run(*words: str) -> str:
        done = subprocess.run(
            [python, *words], capture_output=True, text=True, cwd=folder, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", str(source))
    return run


def _lend(python: Path) -> None:
    """Let the new environment see the packages of this one, editable installs included."""
    code = "import site; print(site.getsitepackages()[0])"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    lent = [*site.getsitepackages(), str(ROOT), str(ROOT / "checks")]
    lines = [f"import site; site.addsitedir({path!r})\n" for path in lent if Path(path).is_dir()]
    (Path(found.stdout.strip()) / "lent.pth").write_text("".join(lines), "utf-8")


def test_its_check_is_listed_under_the_name_of_the_plugin(installed: Python) -> None:
    code = "from mtpdoctor import registry; r = registry.load(); print(*r.checks, r.broken)"
    listed = installed("-c", code)

    assert "acme/vram-budget" in listed.split()
    assert "drafter-width-mismatch" in listed.split()
    assert listed.rstrip().endswith("()")


def test_its_page_is_found(installed: Python) -> None:
    code = "from mtpdoctor import registry; print(registry.load().page('acme/vram-budget'))"

    assert installed("-c", code).startswith("# `vram-budget`")


def test_the_command_lists_and_explains_it(installed: Python) -> None:
    program = "import sys; from mtpdoctor.cli import main; sys.exit(main(sys.argv[1:]))"

    assert "acme/vram-budget" in installed("-c", program, "checks")
    assert "Acme" in installed("-c", program, "explain", "acme/vram-budget")


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check[...]:
    monkeypatch.syspath_prepend(str(ACME))
    (only,) = import_module("mtpdoctor_acme").CHECKS
    assert isinstance(only, Check)
    return only


def test_the_examples_of_its_page_are_true(check: Check[...]) -> None:
    page = PAGE.read_text("utf-8")
    if os.environ.get("MTPDOCTOR_UPDATE") == "1":
        PAGE.write_text(rewritten(page, check.id, check), "utf-8")
        return
    for example in examples(page):
        assert answer(example.facts, check.id, check) == example.result


def test_the_shipped_checks_come_through_the_same_group() -> None:
    assert f'[project.entry-points."{GROUP}"]' in (ACME / "pyproject.toml").read_text("utf-8")
    assert f'[project.entry-points."{GROUP}"]' in (ROOT / "pyproject.toml").read_text("utf-8")
    assert find_spec("mtpdoctor_checks") is not None
