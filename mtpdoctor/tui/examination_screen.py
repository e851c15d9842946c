"""The screen of an examination: facts, checks, detail, smoke run, verdict."""

from __future__ import annotations

from time import monotonic
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer, OptionList, Static

from mtpdoctor import launch as commands
from mtpdoctor.engine import Outcome
from mtpdoctor.findings import Severity
from mtpdoctor.render import words
from mtpdoctor.tui import paint
from mtpdoctor.tui.check_list import CheckList
from mtpdoctor.tui.detail import Detail
from mtpdoctor.tui.facts_panel import FactsPanel
from mtpdoctor.tui.smoke_panel import SmokePanel
from mtpdoctor.tui.state import State, worst
from mtpdoctor.version import VERSION
from mtpdoctor.visible import visible

HORIZONTAL = [(0, "-narrow"), (112, "-wide")]
VERTICAL = [(0, "-tiny"), (20, "-low"), (36, "-tall")]
_OPEN = {Outcome.UNKNOWN, Outcome.CRASHED}


class ExaminationScreen(Screen[None]):
    """Shows a :class:`State`; what the user wants goes to the app as messages."""

    HORIZONTAL_BREAKPOINTS = HORIZONTAL
    VERTICAL_BREAKPOINTS = VERTICAL
    AUTO_FOCUS = "#checks"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "smoke", "run for real"),
        Binding("y", "copy", "copy command"),
        Binding("r", "again", "again"),
        Binding("c", "cancel", "cancel"),
        Binding("escape", "back", "back", show=False),
        Binding("tab", "next_pane", "next pane", key_display="tab"),
        Binding("shift+tab", "previous_pane", "previous pane", show=False),
    ]

    class Wants(Message):
        """The user wants an examination: the same again, or with a smoke run."""

        def __init__(self, *, smoke: bool) -> None:
            super().__init__()
            self.smoke = smoke

    class Cancel(Message):
        """The user wants the examination to end."""

    def __init__(self) -> None:
        super().__init__()
        self._state = State()
        self._began = monotonic()

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield FactsPanel()
        with Container(id="body"):
            yield CheckList()
            with Vertical(id="panes"):
                yield Detail()
                yield SmokePanel()
        yield Static(id="verdict", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.set_interval(1.0, self._show_head)
        self.show(self._state)

    def show(self, state: State) -> None:
        """Show *state* in place of what was shown before."""
        before, self._state = self._state, state
        if not self.is_mounted:
            return
        checks = self.query_one(CheckList)
        if state.busy and not before.busy:
            self._began = monotonic()
            checks.start_over()
        self.query_one(FactsPanel).show(state)
        checks.show(state)
        self._show_detail()
        self.query_one(SmokePanel).show(state)
        if state.smoking and not before.smoking:
            self.add_class("-run")
        elif before.busy and not state.busy and checks.has_focus and checks.followed:
            self.set_class(not state.offers_run or not _anything_wrong(state), "-run")
        self._show_head()
        self.query_one("#verdict", Static).update(_verdict(state))
        if _offers(state) != _offers(before):
            self.refresh_bindings()

    def _show_head(self) -> None:
        doing = _doing(self._state, monotonic() - self._began)
        self.query_one("#head", Static).update(
            Content.assemble((f"mtpdoctor {VERSION}", "bold $text-primary"), "  ", doing)
        )

    def _show_detail(self) -> None:
        chosen = self.query_one(CheckList).chosen
        result = self._state.results.get(chosen)
        self.query_one(Detail).show(result, self._state.titles.get(chosen, ""))

    # Where the panes do not fit beside each other, the class -run says which of the two is seen.

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        checks, detail = self.query_one(CheckList), self.query_one(Detail)
        if detail.check != checks.chosen and not checks.followed:
            self.remove_class("-run")
        self._show_detail()

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        self.remove_class("-run")
        self.query_one(Detail).focus()

    def action_next_pane(self) -> None:
        self._step(1)

    def action_previous_pane(self) -> None:
        self._step(-1)

    def _step(self, step: int) -> None:
        panes: list[Widget] = [self.query_one(name) for name in ("#checks", "#detail", "#smoke")]
        at = next((i for i, pane in enumerate(panes) if pane.has_focus), 0)
        following = panes[(at + step) % len(panes)]
        if following.id != "checks":
            self.set_class(following.id == "smoke", "-run")
        following.focus()

    def action_smoke(self) -> None:
        self.post_message(self.Wants(smoke=True))

    def action_again(self) -> None:
        request = self._state.request
        self.post_message(self.Wants(smoke=request is not None and request.smoke))

    def action_cancel(self) -> None:
        self.post_message(self.Cancel())

    def action_back(self) -> None:
        """Cancel what is on; else go back to the list."""
        if self._state.busy:
            self.action_cancel()
        else:
            self.query_one(CheckList).focus()

    def action_copy(self) -> None:
        command = self._state.command
        if command is None:
            return
        self.app.copy_to_clipboard(commands.shown(command))
        self.notify("Copied. It is printed again when you quit.", markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what makes sense now."""
        state = self._state
        match action:
            case "smoke":
                return state.offers_run
            case "again":
                return not state.busy
            case "cancel":
                return state.busy and not state.stopping
            case "copy":
                return state.command is not None
            case _:
                return super().check_action(action, parameters)


def _offers(state: State) -> tuple[bool, ...]:
    """Return all that the keys on offer hang on: making the footer anew costs milliseconds."""
    return state.busy, state.stopping, state.offers_run, state.command is not None


def _anything_wrong(state: State) -> bool:
    return any(
        worst(result) not in {None, Severity.INFO} or result.outcome in _OPEN
        for result in state.results.values()
    )


def _doing(state: State, seconds: float) -> str:
    if state.stopping:
        return "stopping; waiting for the clean-up …"
    if state.smoking:
        assert state.stage is not None
        of = f" {state.stage.done} of {state.stage.total}" if state.stage.total else ""
        return f"smoke run, step{of}, {seconds:.0f} s" if of else f"smoke run, {seconds:.0f} s"
    if state.busy:
        return f"examining, {seconds:.0f} s" if seconds >= 1 else "examining"
    if state.report is not None:
        return f"done in {state.report.seconds:.1f} s"
    return "cancelled before there was a verdict" if state.failure is None else "failed"


def _verdict(state: State) -> Content:
    if state.report is not None:
        said = visible(words.verdict(state.report))
        return Content.assemble(paint.verdict(state.report.verdict), ": ", said)
    if state.smoking:
        return Content.styled("… the smoke run will tell", paint.MUTED)
    if state.busy:
        return Content.styled("… no verdict yet", paint.MUTED)
    return Content.styled("? no verdict", "bold $text-warning")
