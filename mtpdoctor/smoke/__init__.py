"""The proof: a real server, without and with drafting, on the user's own command."""

from mtpdoctor.smoke.diagnosis import Ending, diagnose
from mtpdoctor.smoke.plan import Ask, Settings
from mtpdoctor.smoke.runner import run

__all__ = ["Ask", "Ending", "Settings", "diagnose", "run"]
