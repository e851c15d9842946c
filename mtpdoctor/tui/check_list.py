"""The checks as they answer, what counts most at the top."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from mtpdoctor.engine import Outcome, Result
from mtpdoctor.tui import paint
from mtpdoctor.tui.state import State, by_weight, counts
from mtpdoctor.visible import visible, visible_lines

_ID_WIDTH = 36
_MARK_WIDTH = 10
_FEWEST = 20
"""Cells below which a remark beside the id helps nobody."""


def row(result: Result, width: int) -> Content:
    """Return mark, word and id of *result*, and in short what it says, in *width* cells."""
    room = width - _MARK_WIDTH - _ID_WIDTH - 1
    said = paint.fit(_short(result), room) if room >= _FEWEST else ""
    id = visible(result.check, 60)
    if not said:
        return Content.assemble(paint.mark(result), " ", id)
    return Content.assemble(paint.mark(result), f" {id:<{_ID_WIDTH}} ", (said, paint.MUTED))


def _short(result: Result) -> str:
    if result.findings:
        return visible_lines(result.findings[0].says)[0]
    return "" if result.outcome is Outcome.PASSED else visible(result.reason)


class CheckList(OptionList):
    """Follows the worst until the user goes elsewhere; stays with the user's choice from then."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "down", show=False),
        Binding("k", "cursor_up", "up", show=False),
        Binding("g", "first", "first", show=False),
        Binding("G", "last", "last", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="checks", classes="pane", markup=False)
        self.border_title = "checks"
        self._results: list[Result] = []
        self._placed = ""
        """The check that the cursor was put on here, not by the user."""
        self._follows = True

    @property
    def chosen(self) -> str:
        """The id of the check under the cursor; empty when there is none."""
        option = self.highlighted_option
        return "" if option is None or option.id is None else option.id

    @property
    def followed(self) -> bool:
        """Whether the cursor still stands where it was put."""
        self._follows = self._follows and self.chosen in {self._placed, ""}
        return self._follows

    def start_over(self) -> None:
        self._follows = True
        self._placed = self.chosen

    def show(self, state: State) -> None:
        results = by_weight(state)
        numbers = counts(state)
        self.border_title = f"checks: {numbers}" if numbers else "checks"
        if results != self._results:
            self._results = results
            self._fill()

    def on_resize(self, _: Resize) -> None:
        self._fill()

    def _fill(self) -> None:
        results, width = self._results, self.scrollable_content_region.width
        follows, chosen = self.followed, self.chosen
        self.set_options(Option(row(result, width), id=result.check) for result in results)
        ids = [result.check for result in results]
        at = 0 if follows or chosen not in ids else ids.index(chosen)
        self.highlighted = at if ids else None
        self._placed = ids[at] if follows and ids else self._placed
