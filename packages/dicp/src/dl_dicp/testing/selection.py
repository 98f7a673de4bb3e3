"""Selection of tests by ``--sample N/SEED`` and ``-k NAME``, as in the conformance suite."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass


class SelectionError(ValueError):
    """An option is invalid."""


@dataclass(frozen=True)
class Selection:
    """Selects one in ``parts`` of the tests whose names contain ``text``, by a hash of ``seed`` and
    the name."""

    parts: int = 1
    seed: str = "0"
    text: str = ""

    @classmethod
    def of(cls, sample: str, text: str) -> Selection:
        """Create a selection from the command's options.

        :raises SelectionError: the sample is not N or N/SEED.
        """
        match = re.fullmatch(r"(\d+)(?:/(\w+))?", sample)
        if match is None or int(match[1]) < 1:
            raise SelectionError(f"--sample {sample}: expected N or N/SEED, such as 10/7")
        return cls(int(match[1]), match[2] or "0", text)

    def has(self, name: str) -> bool:
        """Return True if a test of that name is selected."""
        digest = hashlib.sha256(f"{self.seed}/{name}".encode()).digest()
        return self.text in name and int.from_bytes(digest[:8], "big") % self.parts == 0
