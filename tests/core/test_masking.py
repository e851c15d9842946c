"""Credentials of the command stand nowhere in what is said of it."""

from __future__ import annotations

from mtpdoctor import launch
from mtpdoctor.engine import Outcome, Result
from mtpdoctor.events import LogLine
from mtpdoctor.facts import Attempt, Crash, SmokeRun
from mtpdoctor.findings import Advice, Evidence, Finding, SetFlag
from mtpdoctor.masking import Mask

KEY, TOKEN = "hunter2-is-my-key", "a-token-of-mine"


def mask() -> Mask:
    words = ("llama-server", "-m", "x.gguf", "--api-key", KEY, f"--hf-token={TOKEN}")
    return Mask.of(launch.parse(launch.split(words), launch.shipped()))


def test_findings_reasons_and_fixes_are_masked() -> None:
    finding = Finding(
        says=f"the word after {KEY}",
        about=KEY,
        evidence=(Evidence(f"{TOKEN}!"),),
        fixes=(SetFlag("--api-key", KEY), Advice(f"do not use {KEY}", f"echo {TOKEN}")),
    )
    result = Result(check="x", outcome=Outcome.FOUND, findings=(finding,), reason=KEY)

    shown = repr(mask().result(result))

    assert KEY not in shown
    assert TOKEN not in shown


def test_runs_and_log_lines_are_masked() -> None:
    crash = Crash(cause=f"bad {TOKEN}", log_tail=(f"key {KEY}",))
    run = SmokeRun(attempts=(Attempt(argv=(KEY,), arm="mtp", outcome="crashed", crash=crash),))

    shown = repr(mask().run(run)) + repr(mask().event(LogLine(arm="mtp", text=f"=== {KEY}")))

    assert KEY not in shown
    assert TOKEN not in shown


def test_ordinary_words_are_left_alone() -> None:
    assert mask().text("the model x.gguf is fine") == "the model x.gguf is fine"
