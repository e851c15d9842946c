"""The version, as a constant: asking the installed metadata for it costs start-up time."""

VERSION = "0.1.0"
