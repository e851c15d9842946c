from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from launch.captured import launch_of

from mtpdoctor.launch import plain, shell, shown

WORD = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=12)
PRINTABLE = WORD.filter(str.isprintable)
TRICKY = st.text("ab \"'\\%^&|<>()!$`\u2018\u201d;#@{},=-./:~*?1", max_size=10)
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


def by_crt(line: str) -> list[str]:
    """Take *line* apart as CommandLineToArgvW does."""
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at] == " ":
            at += 1
            continue
        word, quoted = "", False
        while at < len(line) and (quoted or line[at] != " "):
            slashes = re.compile(r"\\*").match(line, at)
            assert slashes is not None
            count = len(slashes[0])
            at += count
            if line[at : at + 1] == '"':
                word += "\\" * (count // 2)
                if count % 2:
                    word += '"'
                else:
                    quoted = not quoted
                at += 1
            else:
                word += "\\" * count
                if at < len(line) and (quoted or line[at] != " "):
                    word += line[at]
                    at += 1
        words.append(word)
    return words


def by_cmd(line: str) -> list[str]:
    """Take *line* apart as cmd.exe does before it hands a line over; one item a command."""
    commands, quoted, at = [""], False, 0
    while at < len(line):
        c = line[at]
        if c == '"':
            quoted = not quoted
        if c == "^" and not quoted:
            at += 1
            commands[-1] += line[at]
        elif c in "&|<>" and not quoted:
            commands.append("")
        else:
            commands[-1] += c
        at += 1
    return commands


def by_powershell(line: str) -> list[str]:
    """Take *line* apart as PowerShell does, as far as our own quoting goes."""
    single, double = "'\u2018\u2019\u201a\u201b", '"\u201c\u201d\u201e'
    words: list[str] = []
    at = 0
    while at < len(line):
        if line[at] == " ":
            at += 1
        elif line[at] in single:
            word, at = "", at + 1
            while line[at] not in single or (line[at + 1 : at + 2] and line[at + 1] in single):
                at += line[at] in single
                word, at = word + line[at], at + 1
            words.append(word)
            at += 1
        elif line[at] in double:
            word, at = "", at + 1
            while line[at] not in double:
                if line[at] == "`":
                    word, at = word + line[at + 1], at + 2
                elif match := re.compile(r"\$\(\[char\]0x([0-9a-f]+)\)").match(line, at):
                    word, at = word + chr(int(match[1], 16)), match.end()
                else:
                    assert line[at] != "$"
                    word, at = word + line[at], at + 1
            words.append(word)
            at += 1
        else:
            end = line.find(" ", at)
            end = len(line) if end < 0 else end
            words.append(line[at:end])
            at = end
    return words


@given(st.lists(PRINTABLE, min_size=1))
def test_a_posix_line_of_printable_words_gives_them_back(words: list[str]) -> None:
    assert shlex.split(shell(words)) == words


@given(st.lists(WORD))
def test_no_style_lets_a_control_character_through(words: list[str]) -> None:
    for style in ("posix", "cmd", "powershell"):
        assert shell(["x", *words], {"A": "".join(words)}, style).isprintable()


@needs_bash
@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(WORD, TRICKY), max_size=6), st.one_of(WORD, TRICKY))
def test_bash_gets_exactly_the_words_and_the_environment(words: list[str], value: str) -> None:
    line = shell(["printf", "%s\\0", *words, "end"], {"MTPDOCTOR_A": value})
    line += " && " + shell(["printenv", "-0", "MTPDOCTOR_A"], {"MTPDOCTOR_A": value})
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)

    assert done.stdout.decode().split("\0")[:-1] == [*words, "end", value]


@needs_bash
def test_bash_gets_bytes_that_are_no_utf8() -> None:
    done = subprocess.run(
        ["bash", "-c", shell(["printf", "%s", b"a\xff\n1'".decode("utf-8", "surrogateescape")])],
        capture_output=True,
        check=True,
    )

    assert done.stdout == b"a\xff\n1'"


@given(st.lists(st.one_of(PRINTABLE, TRICKY), min_size=1))
def test_cmd_hands_over_the_words_and_starts_nothing_else(words: list[str]) -> None:
    commands = by_cmd(shell(["x", *words], style="cmd"))

    assert len(commands) == 1
    assert by_crt(commands[0]) == ["x", *words]


@given(st.one_of(PRINTABLE, TRICKY).filter(lambda text: not text.endswith(" ")))
def test_cmd_sets_a_variable_to_its_value(value: str) -> None:
    first, _, command = by_cmd(shell(["x"], {"A": value}, "cmd"))

    assert first in {f'set "A={value}"', f"set A={value}"}
    assert command == " x"


def test_cmd_never_leaves_a_variable_name_between_percent_signs() -> None:
    assert "%PATH%" not in shell(["x", "a %PATH% b"], style="cmd")


@given(st.lists(st.one_of(WORD, TRICKY)))
def test_powershell_reads_the_words(words: list[str]) -> None:
    assert by_powershell(shell(["x", *words], style="powershell")) == ["x", *words]


@pytest.mark.parametrize("word", ["@x", "a,b", "a;b", "$x", "{x}", "-a.b", "--a:b", "1", "", "(x)"])
def test_powershell_quotes_what_it_would_read_another_way(word: str) -> None:
    assert shell(["x", word], style="powershell") == f"x '{word}'"


def test_each_style_has_its_own_assignments() -> None:
    words, environment = ["my server", "-m", "x y"], {"A": "b c"}

    assert shell(words, environment) == "A='b c' 'my server' -m 'x y'"
    assert shell(words, environment, "cmd") == 'set "A=b c"&& "my server" -m "x y"'
    assert shell(words, environment, "powershell") == "$env:A = 'b c'; & 'my server' -m 'x y'"


def test_variables_to_be_unset_come_first() -> None:
    assert shell(["x"], {"A": "1"}, "posix", ["B"]) == "env -u B A=1 x"
    assert shell(["x"], {"A": "1"}, "cmd", ["B"]) == 'set "B="&& set "A=1"&& x'
    assert shell(["x"], {"A": "1"}, "powershell", ["B"]) == "Remove-Item Env:B; $env:A = '1'; x"


def test_a_shown_command_has_what_was_typed_and_no_secret() -> None:
    launch = launch_of(
        *("A=1", "llama-server", "-m", "x", "--api-key", "k"),
        HF_TOKEN="hf_secret",
        LLAMA_ARG_N_PARALLEL="1",
    )

    assert shown(launch) == "A=1 llama-server -m x --api-key '***'"


def test_a_shown_command_unsets_what_the_shell_sets_and_the_command_must_not_see() -> None:
    launch = plain(launch_of("llama-server", "-m", "x", LLAMA_ARG_SPEC_TYPE="draft-mtp"))

    assert shown(launch) == "env -u LLAMA_ARG_SPEC_TYPE llama-server -m x"
