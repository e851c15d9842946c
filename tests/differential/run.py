"""Judges every case and runs it on every server; prints and writes who was right.

    python tests/differential/run.py [--only TEXT] [--server NAME] [--open] [--write]

More servers are named in MTPDOCTOR_SERVERS. What a server did is kept under ``build/differential``,
so that judging again takes seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from differential.comparison import main

    sys.exit(main(__doc__))
