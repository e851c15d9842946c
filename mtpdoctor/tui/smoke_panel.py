"""The smoke run: the offer, the run as it goes, and what it measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from mtpdoctor import launch as commands
from mtpdoctor.events import SmokeSample
from mtpdoctor.facts import Drafter, SmokeRun, Target, Unknown
from mtpdoctor.render import words
from mtpdoctor.report import Report
from mtpdoctor.tui import paint
from mtpdoctor.tui.state import State
from mtpdoctor.visible import visible

_OFFER = (
    "run it for real: llama-server starts twice on 127.0.0.1, first without and then with"
    " drafting, and answers the same requests each time. The model is loaded both times: seconds"
    " for a small one, minutes for a large one."
)
_COLUMN = 13
_FEWEST_LINES = 3
"""Lines of the log that are shown however low the pane is."""


def lines(state: State, width: int, height: int) -> Iterator[Content]:
    """Yield what there is to say of the smoke run, in lines of *width* cells."""
    if state.smoking:
        yield from _running(state, width, height)
    elif state.busy:
        yield Content.styled("after the checks", paint.MUTED)
    elif state.report is None:
        yield Content.styled("not run", paint.MUTED)
    else:
        report = state.report
        if report.smoke is not None:
            yield from _measured(report, report.smoke, width)
        elif report.smoke_skipped:
            skipped = visible(report.smoke_skipped)
            hint = ". Fix that first; --force runs it all the same."
            yield from paint.wrapped(skipped + hint, width)
            yield from _command(report, width)
        else:
            yield from _offer(report, width)


def _offer(report: Report, width: int) -> Iterator[Content]:
    yield from paint.wrapped(_OFFER, width, label="s: ")
    missing = [
        visible(model.named)
        for model in (report.facts.get(Target), report.facts.get(Drafter))
        if model is not None and model.trouble is None and isinstance(model.path, Unknown)
    ]
    if missing:
        yield from paint.wrapped(
            f"What is not in the local cache is downloaded: {', '.join(missing)}", width, indent=3
        )
    yield from _command(report, width)


def _command(report: Report, width: int) -> Iterator[Content]:
    """Yield the command to copy, and whether it is proved."""
    if report.corrected is None and not report.proved:
        return
    what = "the command" if report.corrected is None else "the corrected command"
    proof = "proved by the run" if report.proved else "not proved by a run"
    yield Content.assemble(
        (what, "bold"),
        ", ",
        (proof, "$text-success" if report.proved else "$text-warning"),
        (" (y copies it):", paint.MUTED),
    )
    command = commands.shown(report.corrected or report.launch) if report.launch else ""
    yield from paint.wrapped(visible(command), width, label="  ", style="bold")


def _running(state: State, width: int, height: int) -> Iterator[Content]:
    stage = state.stage
    assert stage is not None
    says = visible(stage.says, width)
    if stage.total:
        bar = _bar(stage.done / stage.total, min(24, max(8, width // 4)))
        yield Content.assemble(bar, f" {stage.done}/{stage.total}  {says}")
    else:
        yield Content(says)
    table = list(_table(state.samples, width))
    yield from table
    room = max(_FEWEST_LINES, height - 1 - len(table))
    for line in state.log[-room:]:
        text = paint.fit(f"{line.arm:<5} │ {visible(line.text, 400)}", width)
        yield Content.assemble((text[:5], paint.ARMS[line.arm]), (text[5:], paint.MUTED))


def _bar(share: float, width: int) -> Content:
    done = round(max(0.0, min(1.0, share)) * width)
    return Content.assemble(("━" * done, "$primary"), ("─" * (width - done), paint.MUTED))


def _table(samples: tuple[SmokeSample, ...], width: int) -> Iterator[Content]:
    """Yield speed by arm and kind of request, the newest of a kind, and the accepted drafts."""
    if not samples:
        return
    newest = {(sample.arm, sample.request): sample for sample in samples}
    room = max(1, (width - 6 - 20) // _COLUMN)
    kinds = list(dict.fromkeys(sample.request for sample in samples))[-room:]
    names = "".join(f"{visible(kind, _COLUMN - 2):>{_COLUMN}}" for kind in kinds)
    yield Content.styled(f"{'tok/s':<6}{names}{'accepted':>{_COLUMN}}", paint.MUTED)
    for arm, style in paint.ARMS.items():
        speeds = (
            f"{sample.tokens_per_second:.1f}" if (sample := newest.get((arm, kind))) else "·"
            for kind in kinds
        )
        drafted = sum(sample.drafted for sample in samples if sample.arm == arm)
        accepted = sum(sample.accepted for sample in samples if sample.arm == arm)
        share = f"{accepted / drafted:.2f}" if drafted else "·"
        of = f" of {drafted}" if drafted else ""
        row = "".join(f"{speed:>{_COLUMN}}" for speed in speeds)
        yield Content.assemble((f"{arm:<6}", f"bold {style}"), f"{row}{share:>{_COLUMN}}{of}")


def _measured(report: Report, run: SmokeRun, width: int) -> Iterator[Content]:
    cells = [_cell(name, text) for name, text in words.smoke(run)]
    yield from _in_pairs(cells, width)
    if run.attempts and run.attempts[-1].outcome == "cancelled":
        yield Content.styled("The run was cancelled; r runs it again.", "$text-warning")
    crash = run.crash
    if crash is not None:
        cause = visible(crash.cause) or "The server gave no reason that is known."
        yield from paint.wrapped(cause, width, style="$text-error")
    yield from _command(report, width)
    if crash is not None:
        for line in crash.excerpt:
            text = paint.fit(f"│ {visible(line, 400)}", width)
            yield Content.styled(text, paint.MUTED)


def _in_pairs(cells: list[Content], width: int) -> Iterator[Content]:
    """Yield two cells a line, where both fit."""
    for first, *rest in (cells[at : at + 2] for at in range(0, len(cells), 2)):
        half = max(width // 2, first.cell_length + 2)
        if rest and half + rest[0].cell_length <= width:
            yield Content.assemble(first.pad_right(half - first.cell_length), rest[0])
        else:
            yield from (first, *rest)


def _cell(name: str, text: str) -> Content:
    style = {"plain": f"bold {paint.ARMS['plain']}", "mtp": f"bold {paint.ARMS['mtp']}"}
    return Content.assemble((f"{name:<12}", style.get(name, "")), visible(text))


class SmokePanel(VerticalScroll):
    """The pane of the smoke run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "scroll", show=False),
        Binding("k", "scroll_up", "scroll", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(Static(markup=False), id="smoke", classes="pane")
        self.border_title = "smoke run"
        self._state = State()

    def show(self, state: State) -> None:
        self._state = state
        self._update()

    def on_resize(self, _: Resize) -> None:
        self.call_after_refresh(self._update)  # during the layout, its height would stay the old

    def _update(self) -> None:
        region = self.scrollable_content_region
        self.query_one(Static).update(paint.joined(lines(self._state, region.width, region.height)))
