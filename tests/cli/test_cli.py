"""The program as a user meets it, without any server."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from doctor_command import DOCTOR, doctor, environment

from mtpdoctor.version import VERSION


def test_version_is_one_line() -> None:
    answer = doctor("--version")

    assert (answer.code, answer.out) == (0, f"mtpdoctor {VERSION}\n")


def test_help_teaches_on_stdout() -> None:
    answer = doctor("--help")

    assert answer.code == 0
    assert "mtpdoctor -- llama-server -hf" in answer.out
    assert "Exit codes:" in answer.out


def test_nothing_to_examine_is_a_usage_error_that_says_what_to_give(tmp_path: Path) -> None:
    answer = doctor("--json", cwd=tmp_path)

    assert (answer.code, answer.out) == (2, "")
    assert "put your command after --" in answer.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--", "docker", "run", "x"], "inside a container"),
        (["--", "sudo", "llama-server", "-m", "x"], "starts sudo, not llama-server"),
        (["--", "llama-server", "--models-dir", "x"], "router"),
        (["--select", "no-such-check", "--", "llama-server", "-m", "x"], "no check called"),
        (["explain", "drafter-with-mismatch"], "no check called"),
        (["explain"], "explain takes one id"),
        (["--json", "llama-server", "-m", "x"], "put -- before"),
        (["--output", "/no/such/folder/x", "--", "llama-server", "-m", "x"], "No such folder"),
        (["--output", "/", "--", "llama-server", "-m", "x"], "is a folder"),
        (["--api-key=s3cret", "--", "x"], "no option --api-key"),
        (["HF_TOKEN=s3cret", "llama-server"], "HF_TOKEN=***"),
    ],
)
def test_a_users_mistake_is_two_lines_and_no_traceback(
    words: list[str], says: str, tmp_path: Path
) -> None:
    answer = doctor(*words, cwd=tmp_path)

    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err
    assert "Traceback" not in answer.err
    assert "s3cret" not in answer.err


def test_a_near_miss_is_suggested() -> None:
    assert "did you mean drafter-width-mismatch?" in doctor("explain", "drafter-with-mismatch").err


def test_checks_lists_every_check_with_its_origin() -> None:
    answer = doctor("checks")

    line = next(line for line in answer.out.splitlines() if line.startswith("no-mtp-head"))
    assert line.split()[1:3] == ["error", "mtpdoctor"]


def test_explain_prints_the_page() -> None:
    answer = doctor("explain", "drafter-width-mismatch")

    assert answer.out.startswith("# `drafter-width-mismatch`\n")
    assert "    error: drafter.gguf" in answer.out
    assert "toml facts" not in answer.out


def test_a_program_that_is_not_there_is_found_and_named(tmp_path: Path) -> None:
    answer = doctor("--json", "--", "llama-server-nowhere", "-m", "x.gguf", cwd=tmp_path)

    assert answer.code == 1
    assert "server-not-found" in answer.errors()


def test_the_report_goes_to_a_file_when_asked(tmp_path: Path) -> None:
    answer = doctor("--json", "--output", "r.json", "--", "nowhere", "-m", "x", cwd=tmp_path)

    assert (answer.code, answer.out) == (1, "")
    assert (tmp_path / "r.json").read_text().startswith("{")


def test_a_configuration_file_is_enough(tmp_path: Path) -> None:
    (tmp_path / "mtpdoctor.toml").write_text('command = "llama-server-nowhere -m x.gguf"\n')

    assert doctor("--json", cwd=tmp_path).code == 1


def test_the_command_line_never_pays_for_the_screen() -> None:
    code = (
        "import sys, mtpdoctor.cli, mtpdoctor.options, mtpdoctor.doctor, mtpdoctor.render.text\n"
        "heavy = {'textual', 'rich', 'numpy', 'gguf', 'huggingface_hub', 'pynvml', 'asyncio'}\n"
        "print(*sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("\n", "")


def test_a_reader_that_has_gone_does_not_change_the_verdict(tmp_path: Path) -> None:
    command = f"{DOCTOR} --json -- nowhere -m x | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], check=False, cwd=tmp_path, env=environment())

    assert done.returncode == 1


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_no_fault(closed: str, tmp_path: Path) -> None:
    command = f"{DOCTOR} --json -- nowhere -m x {closed}"
    done = subprocess.run(
        ["bash", "-c", command], check=False, capture_output=True, cwd=tmp_path, env=environment()
    )

    assert done.returncode == 1
    assert b"mtpdoctor:" not in done.stdout


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{DOCTOR} checks | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        check=False,
        capture_output=True,
        text=True,
        env=environment(),
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_disk_is_no_fault_of_ours(tmp_path: Path) -> None:
    command = f"{DOCTOR} --json -- nowhere -m x > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )

    assert done.returncode == 2
    assert "No space left on device" in done.stderr


def test_a_deleted_working_folder_is_no_fault(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"cd {gone}; rmdir {gone}; {DOCTOR} --json -- nowhere -m /x"
    done = subprocess.run(
        ["bash", "-c", command], check=False, capture_output=True, text=True, env=environment()
    )

    assert (done.returncode, done.stderr) == (1, "")


def test_what_a_plugin_prints_is_not_on_stdout(tmp_path: Path) -> None:
    info = tmp_path / "loud-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[mtpdoctor.checks]\nloud = loud:CHECKS\n")
    (tmp_path / "loud.py").write_text("print('POLLUTED')\nCHECKS = ()\n")

    answer = doctor("--json", "--", "nowhere", "-m", "x", env=environment(PYTHONPATH=str(tmp_path)))

    assert answer.report["verdict"] == "fail"
    assert "POLLUTED" in answer.err
