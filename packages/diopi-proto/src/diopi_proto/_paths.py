"""Paths of the package's own files, installed or in a source checkout."""

from __future__ import annotations

from pathlib import Path

from .package_files import headers_of

_PACKAGE = Path(__file__).resolve().parent


def include_dir() -> Path:
    """Return the folder for a C compiler's ``-I``, which contains ``diopi/`` and ``dl/``."""
    return headers_of(_PACKAGE)


def cmake_dir() -> Path:
    """Return the folder that contains ``dl-vendor.cmake``."""
    return _PACKAGE / "cmake"


def runtime_library() -> Path:
    """Return the path of ``libdiopirt.so.1``, for legacy libraries. It exists once the package is
    built.
    """
    return _PACKAGE / "lib" / "libdiopirt.so.1"


def host_library() -> Path:
    """Return the path of ``libdl_host.so``, the C++ part of the torch-free host. It exists once the
    package is built."""
    return _PACKAGE / "lib" / "libdl_host.so"
