"""Settings of guarded calls; :mod:`.watch` checks the calls."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Guard:
    """How the calls of one instance are checked.

    :ivar salt: seed of the noise in bands and between elements.
    :ivar band: bytes before and after every block that is allocated from now on; a multiple of
        every alignment that operators rely on.
    """

    salt: int = 0
    band: int = 256
