"""Torch releases that dl-core is built for."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUPPORTED = Path(__file__).with_name("releases.toml")


def supported() -> list[str]:
    """Return the supported releases, oldest first."""
    return list(tomllib.loads(SUPPORTED.read_text(encoding="utf-8")))
