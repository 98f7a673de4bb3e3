"""Bundles: one captured operator call as files; docs/bundle.md describes the format.

Importing it does not import torch, for commands that let a child process read bundles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dl_optools.bundle.errors import BundleError, NotStorableError
from dl_optools.bundle.location import find

if TYPE_CHECKING:
    from dl_optools.bundle.reader import Bundle, read

__all__ = ["Bundle", "BundleError", "NotStorableError", "find", "read"]


def __getattr__(name: str) -> Any:
    if name not in ("Bundle", "read"):
        raise AttributeError(f"module 'dl_optools.bundle' has no attribute {name!r}")
    from dl_optools.bundle import reader

    return getattr(reader, name)
