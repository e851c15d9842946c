"""A server that dies of SIGILL. Real where it occurs; here by a stand-in that dies of it."""

from __future__ import annotations

from pathlib import Path

import pairs
import pytest
from doctor_command import SERVER, doctor

pytestmark = pytest.mark.server

STAND_IN = f"""#!/bin/sh
# Stand-in: the real server, except that it dies as soon as it is to serve a model.
case " $* " in *" --port "*) kill -ILL $$ ;; esac
exec {SERVER} "$@"
"""


def test_a_server_that_dies_of_sigill_is_told_as_one_for_another_processor(tmp_path: Path) -> None:
    server = tmp_path / "llama-server"
    server.write_text(STAND_IN)
    server.chmod(0o755)
    pair = pairs.write(tmp_path, "quantized-target")

    answer = doctor("--json", "--smoke", "--", str(server), *pair.arguments, cwd=tmp_path)

    crash = answer.report["smoke"]["attempts"][-1]["crash"]
    assert (answer.code, answer.errors()) == (1, ["cpu-features-missing"])
    assert crash["signal"] == "SIGILL"
    assert not answer.report["command"]["proved"]


def test_a_quantized_model_that_the_real_server_serves_is_no_finding(tmp_path: Path) -> None:
    """The wheel is compiled for AMX, which most processors lack; llama.cpp asks before it uses it."""
    pair = pairs.write(tmp_path, "quantized-target")

    answer = doctor("--json", "--smoke", "--", SERVER, *pair.arguments, cwd=tmp_path)

    served = answer.report["command"]["proved"]
    assert answer.errors() == ([] if served else ["cpu-features-missing"])
