"""All keys, on one page."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from mtpdoctor.tui import paint

KEYS = (
    ("j k ↓ ↑", "next and previous check; scroll in a pane"),
    ("g G", "first and last check"),
    ("Enter", "read the check in its pane"),
    ("Tab", "next pane: checks, detail, smoke run"),
    ("s", "run it for real, without and with drafting"),
    ("r", "examine again"),
    ("y", "copy the corrected or proved command"),
    ("Esc c", "cancel the run; Esc also leads back to the checks"),
    ("^p", "everything else: themes, screenshot"),
    ("?", "this page"),
    ("q", "quit; a run is cancelled and cleaned up first"),
    ("^c", "the same, with exit code 130 if a run was on"),
)
_SIGNS = "✓ passed   ! warning   ✗ error, crashed   ? unknown   · skipped"


class HelpScreen(ModalScreen[None]):
    """Goes away with any of the keys that mean away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter,space", "dismiss", "close", show=False),
    ]

    def compose(self) -> ComposeResult:
        lines = [Content.assemble((f"{keys:<9}", "bold"), says) for keys, says in KEYS]
        box = Static(paint.joined([*lines, Content(), Content(_SIGNS)]), id="help", markup=False)
        box.border_title = "keys"
        yield box
