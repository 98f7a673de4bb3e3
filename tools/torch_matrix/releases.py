"""Which torch releases dl-core is built for."""

from __future__ import annotations

from pathlib import Path

from tools.projects import tomllib

SUPPORTED = Path(__file__).with_name("releases.toml")


def supported() -> list[str]:
    """The releases, oldest first."""
    return list(tomllib.loads(SUPPORTED.read_text(encoding="utf-8")))
