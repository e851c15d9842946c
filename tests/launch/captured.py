"""What three real servers print for ``--help``, captured."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mtpdoctor.facts import FlagTable, Launch
from mtpdoctor.launch import parse, split, table

SERVERS = Path(__file__).parents[2] / "fixtures" / "servers"
VERSIONS = ("0.10434.0", "0.10092.0", "0.10068.0")
NEWEST = VERSIONS[0]


def help_of(version: str) -> str:
    return (SERVERS / version / "help.txt").read_text("utf-8")


def table_of(version: str = NEWEST) -> FlagTable:
    return _table(version)


@cache
def _table(version: str) -> FlagTable:
    return table(help_of(version), f"llama-server {version}")


def launch_of(*words: str, version: str = NEWEST, **inherited: str) -> Launch:
    return parse(split(words, inherited), table_of(version))
