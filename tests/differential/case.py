"""One case: a pair of files, a command, and what the question is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pairs
from pairs import Sketch, Written

from mtpdoctor.demo.blueprint import Blueprint, save

Change = Callable[[Sketch], None]
Words = Callable[[tuple[str, ...]], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is done to a sound pair, or to its command."""

    name: str
    family: str
    """The part of the suite: files of one kind, or commands."""
    changes: tuple[Change, ...] = ()
    damage: pairs.Damage | None = None
    """What is done to the files once they are written."""
    words: Words = field(default=lambda words: words)
    environment: Mapping[str, str] = field(default_factory=dict)
    built_in: Callable[[], Blueprint] | None = None
    """A target with the head inside, in place of the pair."""

    def write(self, folder: Path) -> tuple[str, ...]:
        """Write the files, and return the words after ``llama-server``."""
        if self.built_in is not None:
            target = folder / "target.gguf"
            save(self.built_in(), target)
            written = Written(target, None)
            if self.damage is not None:
                written = self.damage(target, target)
        else:
            written = self._pair(folder)
        return self.words((*written.arguments, "-np", "1"))

    def _pair(self, folder: Path) -> Written:
        sketch = pairs.sound()
        for change in self.changes:
            change(sketch)
        main, head = folder / "target.gguf", folder / "drafter.gguf"
        save(sketch.target, main)
        save(sketch.drafter, head)
        return self.damage(main, head) if self.damage is not None else Written(main, head)
