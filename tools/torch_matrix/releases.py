"""Torch releases that dl-core is built for, each with its versions of Python."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUPPORTED = Path(__file__).with_name("releases.toml")


@dataclass(frozen=True)
class Release:
    """A supported torch release.

    :ivar torchvision: the release of torchvision that belongs to it.
    :ivar pythons: versions of Python, such as ``3.12``, for which the index has this torch.
    :ivar matrix: versions among them that the matrix tests besides the toolchain's.
    """

    name: str
    torchvision: str
    pythons: tuple[str, ...]
    matrix: tuple[str, ...]


def releases() -> list[Release]:
    """Return the supported releases, oldest first."""
    table = tomllib.loads(SUPPORTED.read_text(encoding="utf-8"))
    return [
        Release(name, row["torchvision"], tuple(row["pythons"]), tuple(row["matrix"]))
        for name, row in table.items()
    ]


def supported() -> list[str]:
    """Return the names of the supported releases, oldest first."""
    return [release.name for release in releases()]
