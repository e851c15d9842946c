"""Why nothing could be examined, and what to do."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Static

from mtpdoctor.errors import DoctorError
from mtpdoctor.tui import paint
from mtpdoctor.visible import visible, visible_lines


def message(failure: Exception) -> Content:
    """Return *failure* in words: a mistake of the user's with its hint, or a fault of ours."""
    if isinstance(failure, DoctorError):
        says, hint = failure.says, failure.hint
        head = "✗ This cannot be examined"
    else:
        head = "✗ A fault of mtpdoctor"
        says = f"{type(failure).__name__}: {failure}"
        hint = "--debug shows where, once you have quit; please report it"
    lines = [Content.styled(head, "bold $text-error"), Content()]
    lines += [Content(line) for line in visible_lines(says)]
    if hint:
        lines += [Content(), Content.assemble(("try: ", "bold"), visible(hint))]
    return paint.joined(lines)


class TroubleScreen(Screen[None]):
    """The exit code will say it too: 2 for a mistake, 70 for a fault."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "another", "another command"),
    ]

    class Another(Message):
        """The user wants to try something else."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self._failure = failure

    def compose(self) -> ComposeResult:
        yield VerticalScroll(Static(message(self._failure), markup=False), id="trouble")
        yield Footer(show_command_palette=False)

    def action_another(self) -> None:
        self.post_message(self.Another())
