"""``python -m mtpdoctor``."""

import sys

from mtpdoctor.cli import main

sys.exit(main())
