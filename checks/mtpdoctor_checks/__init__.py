"""The checks that mtpdoctor ships, registered like anyone else's.

One folder a check: its code, and the README.md that explains and tests it. The modules beside the
folders hold what several checks read out of a header, a command or a server.
"""

from mtpdoctor.checks import checks_in

CHECKS = checks_in(__name__)
