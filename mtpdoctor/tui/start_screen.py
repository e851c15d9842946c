"""What to examine, when the command line did not say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Paste
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, Input, Static

from mtpdoctor.demo.command import ACCEPTANCE
from mtpdoctor.demo.command import command as demo_command
from mtpdoctor.request import Request
from mtpdoctor.tui import paint
from mtpdoctor.version import VERSION

_INTRODUCTION = (
    (f"mtpdoctor {VERSION}", "bold $text-primary"),
    (
        "  finds out why llama.cpp's multi-token prediction does not load, crashes, is silently"
        " off or makes things slower, and proves the command that works.\n\n"
    ),
    ("d  the demo", "bold"),
    ": a built-in pair on a real llama-server; nothing to download\n",
    ("i  your command", "bold"),
    ": type or paste the llama-server command that you run\n\n",
    (
        "From the shell: mtpdoctor -- llama-server -m MODEL.gguf …",
        paint.MUTED,
    ),
)
_CONTINUED = re.compile(r"\\[ \t]*[\r\n]+")


def one_line(pasted: str) -> str:
    """Return a command that was pasted, continued lines joined, without control characters."""
    joined = _CONTINUED.sub(" ", pasted)
    return "".join(c if c.isprintable() else " " for c in joined).strip()


class CommandInput(Input):
    """A line that takes a command of several."""

    def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
        self.replace(one_line(event.text), *self.selection)


class StartScreen(Screen[None]):
    """Offers the demo, and a line for a command."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "demo", "demo"),
        Binding("i", "type", "type a command"),
        Binding("escape", "leave_line", "leave the line", show=False),
    ]

    class Chosen(Message):
        """What to examine; making it may take a second, and is left to the examination."""

        def __init__(self, make: Callable[[], Request]) -> None:
            super().__init__()
            self.make = make

    def __init__(self, environment: Mapping[str, str], text: str = "") -> None:
        super().__init__()
        self._environment = environment
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(id="start"):
            yield Static(Content.assemble(*_INTRODUCTION), markup=False)
            yield CommandInput(
                one_line(self._text), placeholder="llama-server -m …", select_on_focus=False
            )
            yield Static(id="mistake", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        if self._text:
            self.action_type()

    def on_paste(self, event: Paste) -> None:
        """Take a paste wherever it happens."""
        line = self.query_one(CommandInput)
        line.focus()
        line.insert_text_at_cursor(one_line(event.text))

    def action_demo(self) -> None:
        environment = self._environment

        def make() -> Request:
            words = demo_command(server=None, environment=environment, acceptance=ACCEPTANCE)
            return Request(words=words, environment=environment, smoke=True)

        self.post_message(self.Chosen(make))

    def action_type(self) -> None:
        self.query_one(CommandInput).focus()

    def action_leave_line(self) -> None:
        self.set_focus(None)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        try:
            words = tuple(shlex.split(event.value))
        except ValueError as error:
            mistake = f"✗ {str(error).lower()}: mend the quotes"
        else:
            mistake = "" if words else "✗ there is no command yet"
        self.query_one("#mistake", Static).update(Content.styled(mistake, "$text-error"))
        if not mistake:
            request = Request(words=words, environment=self._environment)
            self.post_message(self.Chosen(lambda: request))
