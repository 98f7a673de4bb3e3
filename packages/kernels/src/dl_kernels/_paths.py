"""Location of the headers."""

from __future__ import annotations

from pathlib import Path


def include_dir() -> Path:
    """Return the folder for the compiler's ``-I``; headers are included as ``dl_kernels/<name>``.

    :raises FileNotFoundError: the headers are neither in the wheel nor next to the sources.
    """
    here = Path(__file__).resolve().parent
    for candidate in (here / "include", here.parent.parent / "include"):
        if (candidate / "dl_kernels" / "operators.h").is_file():
            return candidate
    raise FileNotFoundError(f"dl-kernels has no headers next to {here}; reinstall it")
