"""The errors a user can cause, and the exit codes a script can rely on."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process says to a script; stable, as the report is."""

    OK = 0
    """Nothing found that fails the verdict."""
    FOUND = 1
    """At least one finding at or above the level of ``--fail-on``."""
    USAGE = 2
    """The command line, a file or a setting was wrong; nothing was examined."""
    INCONCLUSIVE = 3
    """What was needed for a verdict could not be determined."""
    INTERNAL = 70
    """A fault of mtpdoctor itself."""
    INTERRUPTED = 130
    """Ctrl-C."""
    TERMINATED = 143
    """SIGTERM."""


class DoctorError(Exception):
    """A mistake the user can mend: what and where, then what to do."""

    def __init__(self, says: str, hint: str = "") -> None:
        super().__init__(says)
        self.says = says
        self.hint = hint
