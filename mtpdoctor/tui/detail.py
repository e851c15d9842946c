"""Everything about one check: what it found, what to do, and why that is believed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from mtpdoctor.engine import Outcome, Result
from mtpdoctor.findings import Finding
from mtpdoctor.render import words
from mtpdoctor.tui import paint
from mtpdoctor.visible import visible, visible_lines


def lines(result: Result, title: str, width: int) -> Iterator[Content]:
    """Yield *result* in lines of *width* cells: what to do stands before why it is believed."""
    yield Content.assemble(paint.mark(result), " ", (visible(result.check), "bold"))
    title = visible(title)
    if not result.findings:
        yield from paint.wrapped(_says(result), width)
        if title:
            yield from paint.wrapped(title, width, label="looks for: ", style=paint.MUTED)
        return
    if title:
        yield from paint.wrapped(title, width, style=paint.MUTED)
    for finding in result.findings:
        yield from _finding(finding, width)
    if result.reason:
        yield from paint.wrapped(visible(result.reason), width, label="not all could be told: ")


def _says(result: Result) -> str:
    reason = visible(result.reason)
    match result.outcome:
        case Outcome.PASSED:
            return "Measured, and fine."
        case Outcome.SKIPPED:
            return f"Does not count here: {reason}."
        case Outcome.UNKNOWN:
            return f"Could not be told: {reason}."
        case Outcome.CRASHED:
            return f"It failed by itself; what it would have found is unknown: {reason}"
        case _:
            return reason


def _finding(finding: Finding, width: int) -> Iterator[Content]:
    for line in visible_lines(finding.says):
        yield from paint.wrapped(line, width)
    for fix in finding.fixes:
        yield from paint.wrapped(
            visible(fix.title), width, label="fix: ", style="bold $text-success"
        )
        if command := words.fix_command(fix):
            yield from paint.wrapped(visible(command), width, label="     $ ")
    for evidence in finding.evidence:
        said = visible(evidence.says)
        yield from paint.wrapped(said, width, label="because: ", style=paint.MUTED)
        if evidence.url:
            yield from paint.wrapped(
                visible(evidence.url), width, label="         ", style=f"{paint.MUTED} underline"
            )


class Detail(VerticalScroll):
    """The pane of the highlighted check."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "scroll", show=False),
        Binding("k", "scroll_up", "scroll", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(Static(markup=False), id="detail", classes="pane")
        self.border_title = "detail"
        self._shown: tuple[Result, str] | None = None

    @property
    def check(self) -> str:
        """The id of the check that is shown; empty for none."""
        return "" if self._shown is None else self._shown[0].check

    def show(self, result: Result | None, title: str = "") -> None:
        shown = None if result is None else (result, title)
        if shown == self._shown:
            return
        if self.check != (result.check if result else ""):
            self.scroll_home(animate=False)
        self._shown = shown
        self._update()

    def on_resize(self, _: Resize) -> None:
        self.call_after_refresh(self._update)  # during the layout, its height would stay the old

    def _update(self) -> None:
        static = self.query_one(Static)
        if self._shown is None:
            static.update(Content.styled("No check has answered yet.", paint.MUTED))
        else:
            width = self.scrollable_content_region.width
            static.update(paint.joined(lines(*self._shown, width)))
