"""Checks for the machines at Acme."""

from mtpdoctor import checks_in

CHECKS = checks_in(__name__)
