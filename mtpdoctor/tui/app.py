"""The application: starts examinations, hears what they say, and ends cleanly."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

from textual import on
from textual.app import App
from textual.binding import Binding, BindingType

from mtpdoctor import doctor
from mtpdoctor.errors import ExitCode
from mtpdoctor.launch import shell
from mtpdoctor.report import Report
from mtpdoctor.request import Request
from mtpdoctor.tui.clipboard import sequence
from mtpdoctor.tui.examination import Examination, Examine
from mtpdoctor.tui.examination_screen import ExaminationScreen
from mtpdoctor.tui.help_screen import HelpScreen
from mtpdoctor.tui.start_screen import StartScreen
from mtpdoctor.tui.state import Over, State, after, begun
from mtpdoctor.tui.trouble_screen import TroubleScreen

_PATIENCE = 5.0
"""Seconds to wait for the clean-up of a cancelled run; the guard sees to what is left."""


class DoctorApp(App[None]):
    """One examination at a time, of *request* or of what the start screen yields."""

    TITLE = "mtpdoctor"
    CSS_PATH = "doctor.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", key_display="?"),
        Binding("q", "quit", "quit"),
        Binding("ctrl+q", "quit", "quit", show=False, priority=True),
        Binding("ctrl+c", "interrupt", "quit", show=False, priority=True),
    ]

    def __init__(
        self,
        request: Request | None,
        *,
        examine: Examine = doctor.diagnose,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        super().__init__()
        self._request = request
        self._examine = examine
        self._environment = environment
        self._examination: Examination | None = None
        self._state = State()
        self._screen = ExaminationScreen()
        self._leaving = False
        self.last: Report | None = None
        """What the last finished examination came to."""
        self.ended: ExitCode | None = None
        """What ended the program in place of the user's ``q``."""

    @property
    def exit_code(self) -> ExitCode:
        """What to tell a script: how it ended, else what the last examination came to."""
        if self.ended is not None:
            return self.ended
        return ExitCode.OK if self.last is None else self.last.exit_code

    @property
    def failure(self) -> Exception | None:
        """What the last examination failed with, or what this program did."""
        return self._exception or self._state.failure

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"plain": "#4c9be8", "mtp": "#f0943a"}

    def on_mount(self) -> None:
        if self._request is None:
            self.push_screen(StartScreen(self._environment))
        else:
            self._begin(self._request)

    def _begin(self, request: Request | Callable[[], Request], *, fresh: bool = True) -> None:
        if self._state.busy:
            return
        make = request if callable(request) else lambda: request
        self._state = begun(None if fresh else self._state)
        self._examination = Examination(make, self._examine, self.post_message)
        if self.screen is not self._screen:
            if isinstance(self.screen, StartScreen | TroubleScreen):
                self.switch_screen(self._screen)
            else:
                self.push_screen(self._screen)
        self._screen.show(self._state)
        self._examination.start()

    @on(Examination.News)
    def _news(self, message: Examination.News) -> None:
        if message.examination is not self._examination:
            return
        over = False
        for happening in message.examination.take():
            self._state = after(self._state, happening)
            over = over or isinstance(happening, Over)
        self._screen.show(self._state)
        if over:
            self._over()

    def _over(self) -> None:
        self.last = self._state.report or self.last
        if self._leaving:
            self.exit()
        elif self._state.failure is not None:
            self._show_trouble(self._state.failure)

    def _show_trouble(self, failure: Exception) -> None:
        while isinstance(self.screen, HelpScreen):
            self.pop_screen()
        self.switch_screen(TroubleScreen(failure))

    @on(StartScreen.Chosen)
    def _chosen(self, message: StartScreen.Chosen) -> None:
        self._begin(message.make)

    @on(TroubleScreen.Another)
    def _another(self) -> None:
        request = self._state.request
        text = shell(request.words) if request is not None else ""
        self.switch_screen(StartScreen(self._environment, text))

    @on(ExaminationScreen.Wants)
    def _wants(self, message: ExaminationScreen.Wants) -> None:
        request = self._state.request
        if request is not None:
            self._begin(replace(request, smoke=message.smoke), fresh=not self._state.offers_run)

    @on(ExaminationScreen.Cancel)
    def _cancel(self) -> None:
        if self._examination is not None and self._state.busy:
            self._examination.cancel()
            self._state = replace(self._state, stopping=True)
            self._screen.show(self._state)

    async def action_quit(self) -> None:
        self._leave()

    def action_interrupt(self) -> None:
        """Ctrl-C: quit; that it broke off an examination shows in the exit code."""
        if self._state.busy and self.ended is None:
            self.ended = ExitCode.INTERRUPTED
        self._leave()

    def terminate(self) -> None:
        """SIGTERM: quit whatever is on."""
        self.ended = ExitCode.TERMINATED
        self._leave()

    def _leave(self) -> None:
        """Exit when what is on has been cleaned up."""
        if not self._state.busy:
            self.exit()
        elif not self._leaving:
            self._leaving = True
            self._cancel()
            self.set_timer(_PATIENCE, self.exit)

    def clean_up(self) -> None:
        """Make sure that nothing runs on, however the program came to its end."""
        if self._examination is not None:
            self._examination.cancel()
            self._examination.wait(_PATIENCE)

    def action_help(self) -> None:
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen())

    def copy_to_clipboard(self, text: str) -> None:
        """Copy through the terminal, also from inside tmux."""
        self._clipboard = text
        if self._driver is not None:
            self._driver.write(sequence(text, self._environment))

    def _fatal_error(self) -> None:
        """End without Textual's traceback, whose local variables hold the user's environment."""
        self._close_messages_no_wait()
