"""Measurements: ratios side by side in one run; nothing here fails because of a slow machine."""
