"""Copying through the terminal itself, which works over ssh: OSC 52."""

from __future__ import annotations

import base64
from collections.abc import Mapping


def sequence(text: str, environment: Mapping[str, str]) -> str:
    """Return what to write to the terminal so that *text* gets into the clipboard.

    Inside tmux also wrapped, to be handed through: which of the two it heeds is a matter of its
    options ``set-clipboard`` and ``allow-passthrough``.
    """
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    bare = f"\x1b]52;c;{encoded}\a"
    if not environment.get("TMUX"):
        return bare
    doubled = bare.replace("\x1b", "\x1b\x1b")
    return f"{bare}\x1bPtmux;{doubled}\x1b\\"
