"""A scripted stand-in for llama-server: for the fault suite only, where a real one cannot be made
to misbehave. The environment variable STAND_IN says how; run as a program it is the server.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODE = "STAND_IN"


def install(folder: Path) -> str:
    """Write an executable into *folder* that runs this file; return its path."""
    program = folder / "llama-server"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{__file__}' \"$@\"\n")
    program.chmod(0o755)
    return str(program)


class Handler(BaseHTTPRequestHandler):
    asked = 0

    def log_message(self, format: str, *args: object) -> None:
        pass

    def answer(self, value: object, status: int = 200) -> None:
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        if "hang-health" in MODES:
            time.sleep(1000)
        if self.path == "/health":
            return self.answer({"status": "ok"})
        return self.answer({"total_slots": 2, "default_generation_settings": {"n_ctx": 4096}})

    def do_POST(self) -> None:
        if self.headers["Authorization"] != f"Bearer {os.environ['LLAMA_API_KEY']}":
            return self.answer({"error": {"message": "Invalid API Key"}}, 401)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/apply-template":
            return self.answer({"error": {"message": "no template \x1b[31m"}}, 500)
        if self.path == "/tokenize":
            return self.answer({"tokens": list(range(2000))})
        type(self).asked += 1
        return self.complete(body, type(self).asked)

    def complete(self, body: dict[str, object], number: int) -> None:
        if "dies-second" in MODES and number == 2:
            print("E the stand-in has had enough", flush=True)
            os.kill(os.getpid(), signal.SIGABRT)
            time.sleep(60)  # another thread may be the one that takes the signal
        if "leaves" in MODES and number == 2:
            os._exit(3)
        if "hang-request" in MODES:
            time.sleep(1000)
        if "garbage" in MODES:
            return self.answer(b'{"tokens": [1, 2')
        if "nonsense" in MODES:
            return self.answer({"timings": {"predicted_n": "many"}})
        if "closes" in MODES:
            self.connection.close()
            return None
        if "endless" in MODES:
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b" " * (1 << 16))
        if "refuses" in MODES:
            return self.answer({"error": {"message": "context \x1b[2J\u202eis full"}}, 400)
        count = int(str(body["n_predict"]))
        return self.answer(
            {
                "tokens": list(range(count)),
                "timings": {
                    "prompt_n": len(body["prompt"]),  # type: ignore[arg-type]
                    "prompt_per_second": 1000.0,
                    "predicted_n": count,
                    "predicted_ms": 4000.0,
                    "predicted_per_second": count / 4,
                },
            }
        )


def flood() -> None:
    line = b"a line of a flood that does not end\n" * 1000
    while True:
        os.write(1, line)


def main() -> None:
    if "ignores-term" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "forks" in MODES:
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 1000; sleep 1000"])
    if "flood" in MODES:
        threading.Thread(target=flood, daemon=True).start()
    if "never-ready" in MODES:
        time.sleep(1000)
    words = sys.argv[1:]
    port = int(words[len(words) - 1 - words[::-1].index("--port") + 1])
    if "mute-once" in MODES and not Path(os.environ["STAND_IN_NOTE"]).exists():
        Path(os.environ["STAND_IN_NOTE"]).touch()
        sys.exit(1)
    if "shows-key" in MODES:
        print("key", os.environ["LLAMA_API_KEY"], "argv", words, flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    MODES = set(os.environ.get(MODE, "").split("+"))
    main()
