"""Where the package's own files are, installed or in a source checkout."""

from __future__ import annotations

from pathlib import Path

from .package_files import headers_of

_PACKAGE = Path(__file__).resolve().parent


def include_dir() -> Path:
    """The folder to give a C compiler with ``-I``; it holds ``diopi/`` and ``dl/``."""
    return headers_of(_PACKAGE)


def cmake_dir() -> Path:
    """The folder that holds ``dl-vendor.cmake``."""
    return _PACKAGE / "cmake"


def runtime_library() -> Path:
    """``libdiopirt.so.1``, for legacy libraries only. It exists where the package was built."""
    return _PACKAGE / "lib" / "libdiopirt.so.1"


def host_library() -> Path:
    """``libdl_host.so``: what the torch-free host has in C++. It exists where the package was
    built."""
    return _PACKAGE / "lib" / "libdl_host.so"
