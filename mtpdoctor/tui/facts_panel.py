"""What is examined: server, models and machine, a line each, filled as the probes answer."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from mtpdoctor.facts import Drafter, Facts, Gpus, Host, Server, Target, Unknown
from mtpdoctor.render import words
from mtpdoctor.tui import paint
from mtpdoctor.tui.state import State
from mtpdoctor.visible import visible

_KINDS: dict[str, tuple[str, type]] = {
    "server": ("server", Server),
    "target": ("target", Target),
    "drafter": ("drafter", Drafter),
    "gpus": ("gpu", Gpus),
    "host": ("host", Host),
}
"""Probe to what its line is called and what it finds."""
_LABEL = 10


def rows(state: State) -> list[tuple[str, str, bool]]:
    """Return for each line its name, its text, and whether it is an answer."""
    found = (
        Facts(*(fact for fact in state.facts.values() if not isinstance(fact, Unknown)))
        if state.report is None
        else state.report.facts
    )
    lines = dict(words.facts(found))
    return [
        (name, lines[name], True) if name in lines else (name, _absent(state, probe, kind), False)
        for probe, (name, kind) in _KINDS.items()
    ]


def _absent(state: State, probe: str, kind: type) -> str:
    fact = state.facts.get(probe)
    if isinstance(fact, Unknown):
        return f"? {visible(fact.reason)}"
    if state.report is not None:
        return visible(state.report.facts.why_absent(kind))
    return "asking…" if state.busy else "not asked"


class FactsPanel(Widget):
    """Five lines, each cut to fit."""

    def __init__(self) -> None:
        super().__init__(id="facts")
        self._rows = rows(State())

    def show(self, state: State) -> None:
        if (shown := rows(state)) != self._rows:
            self._rows = shown
            self.refresh()

    def render(self) -> Content:
        room = self.content_size.width - _LABEL
        return paint.joined(
            Content.assemble(
                (f"{name:<{_LABEL}}", "bold"),
                (paint.fit(text, room), "" if answered else paint.MUTED),
            )
            for name, text, answered in self._rows
        )
