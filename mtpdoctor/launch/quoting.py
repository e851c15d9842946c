"""A command as one line to paste into a shell.

Nothing in a word can break out of its quotes, start a second command or reach the terminal as a
control character.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from mtpdoctor.facts import Launch
from mtpdoctor.launch.privacy import masked, masked_environment

Style = Literal["posix", "cmd", "powershell"]
_NONE: Mapping[str, str] = MappingProxyType({})
_CMD_META = re.compile(r'([()%!^"<>&|])')
_CMD_PLAIN = re.compile(r"[\w.,:/\\+@=*?~#\[\]{}$;'-]+")
_PS_BARE = re.compile(r"[A-Za-z0-9_./\\:+=-]+")
_PS_PARAMETER = re.compile(r"-[^-].*[.:].*|--.*[.:].*")
_SINGLE = "'\u2018\u2019\u201a\u201b"
_DOUBLE = re.compile('([`$"\u201c\u201d\u201e])')


def shell(
    words: Sequence[str],
    environment: Mapping[str, str] = _NONE,
    style: Style = "posix",
    unset: Collection[str] = (),
) -> str:
    r"""Return *words* as one line for a shell, after assignments of *environment*.

    *unset* names variables that the surrounding shell has and the command must not see. For
    ``posix`` the line gives back exactly *words*; control characters are written ``$'\033'``
    (bash, zsh, ksh). cmd.exe cannot express control characters: there they become U+FFFD.
    """
    if style == "posix":
        return _posix(words, environment, unset)
    if style == "cmd":
        sets = [f"set {_cmd_assignment(k, v)}&&" for k, v in environment.items()]
        sets = [f"set {_cmd_assignment(k, '')}&&" for k in sorted(unset)] + sets
        return " ".join([*sets, *(_cmd(word) for word in words)])
    lines = [f"Remove-Item Env:{name}" for name in sorted(unset)]
    lines += [f"$env:{k} = {_powershell_quoted(v)}" for k, v in environment.items()]
    line = " ".join(_powershell(word) for word in words)
    if line.startswith(("'", '"')):
        line = f"& {line}"
    return "; ".join([*lines, line])


def shown(launch: Launch, style: Style = "posix") -> str:
    """Return *launch* as a line to show and to copy: credentials masked.

    Variables that the user's shell sets by itself are left out; one that the command must do
    without is unset.
    """
    own = {k: v for k, v in launch.environment.items() if launch.inherited.get(k) != v}
    gone = [name for name in launch.inherited if name not in launch.environment]
    return shell(masked(launch.words), masked_environment(own), style, gone)


def _posix(words: Sequence[str], environment: Mapping[str, str], unset: Collection[str]) -> str:
    sets = [f"{name}={_posix_word(value)}" for name, value in environment.items()]
    parts = [_posix_word(word) for word in words]
    if unset:
        return " ".join(["env", *(f"-u {name}" for name in sorted(unset)), *sets, *parts])
    return " ".join([*sets, *parts])


def _posix_word(word: str) -> str:
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(_posix_character(c) for c in word) + "'"


def _posix_character(c: str) -> str:
    if c in "\\'":
        return "\\" + c
    if c.isprintable():
        return c
    code = ord(c)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8, as Python carries it
        return f"\\x{code - 0xDC00:02x}"
    # Bytes, not \u: what bash makes of \u depends on the locale. Three digits end an octal one.
    return "".join(f"\\{byte:03o}" for byte in c.encode("utf-8", "replace"))


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _crt(word: str) -> str:
    """Quote *word* for the C runtime of Windows, which takes a command line apart."""
    if word and _CMD_PLAIN.fullmatch(word):
        return word
    doubled = re.sub(r'(\\*)"', r'\1\1\\"', word)
    return '"' + re.sub(r"(\\+)$", r"\1\1", doubled) + '"'


def _cmd(word: str) -> str:
    quoted = _crt(_visible(word))
    # A quote inside, or a percent sign, would end cmd's own quoting: escape every character
    # that means something to it instead, the quotes included.
    return _CMD_META.sub(r"^\1", quoted) if re.search(r'[%!"]', word) else quoted


def _cmd_assignment(name: str, value: str) -> str:
    value = _visible(value)
    if re.search(r'[%!"]', value):
        return _CMD_META.sub(r"^\1", f"{name}={value}")
    return f'"{name}={value}"'


def _powershell(word: str) -> str:
    bare = _PS_BARE.fullmatch(word) is not None and not _PS_PARAMETER.fullmatch(word)
    return word if bare and not word[0].isdigit() else _powershell_quoted(word)


def _powershell_quoted(word: str) -> str:
    if word.isprintable():
        return "'" + re.sub(f"([{_SINGLE}])", r"\1\1", word) + "'"
    parts = (_DOUBLE.sub(r"`\1", c) if c.isprintable() else f"$([char]0x{ord(c):x})" for c in word)
    return '"' + "".join(parts) + '"'
