"""Location of the vendor kit's C++ headers."""

from __future__ import annotations

from pathlib import Path

from ._version import __version__

__all__ = ["__version__", "include_dir"]


def include_dir() -> Path:
    """Return the folder for the compiler's ``-I``; headers are included as ``dl/kit/<name>``.

    :raises FileNotFoundError: the headers are neither in the wheel nor next to the sources.
    """
    here = Path(__file__).resolve().parent
    for candidate in (here / "include", here.parent.parent / "include"):
        if (candidate / "dl" / "kit" / "base.h").is_file():
            return candidate
    raise FileNotFoundError(f"dl-vendor-kit has no headers next to {here}; install it again")
