"""What ``mtpdoctor checks`` and ``mtpdoctor explain`` print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from textwrap import indent

from mtpdoctor import registry
from mtpdoctor.errors import DoctorError
from mtpdoctor.render.style import Style
from mtpdoctor.visible import visible, visible_lines

_EXAMPLE = re.compile(
    r"^```toml facts\n.*?^```\n+```text result\n(.*?)^```\n", re.MULTILINE | re.DOTALL
)
"""An executed example: its facts are for the tests, what is said of them is for everyone."""


def lines(style: Style) -> Iterator[str]:
    """Yield a line for each check: id, worst severity, origin, title."""
    loaded = registry.load()
    width = max((len(id) for id in loaded.checks), default=0)
    for id, check in sorted(loaded.checks.items()):
        yield style.plain(
            f"{id:<{width}}  {check.severity.value:<7}  {registry.origin(id):<9}  "
            + visible(check.title)
        )
    for broken in loaded.broken:
        yield style.plain(f"broken plugin {visible(broken.plugin)}: {visible(broken.reason)}")


def page_lines(id: str, style: Style) -> Iterator[str]:
    """Yield the page of a check; an id that does not exist is a mistake with a hint."""
    loaded = registry.load()
    if id not in loaded.checks:
        near = get_close_matches(id, loaded.checks, n=1)
        hint = f"did you mean {near[0]}?" if near else "mtpdoctor checks lists them all"
        raise DoctorError(f"there is no check called {id!r}", hint)
    page = loaded.page(id)
    if page is None:
        check = loaded.checks[id]
        page = f"# `{id}`\n\n{check.title}\n\nThis check has no page."
    told = _EXAMPLE.sub(lambda found: indent(found[1], "    "), page)
    for line in visible_lines(told, limit=1 << 20):
        heading = line.startswith("#")
        yield style.plain(style.bold(line) if heading else line)
