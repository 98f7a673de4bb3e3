"""Loading of vendor libraries, after inspection of their files, and of DIOPI's runtime functions.

The host and :mod:`.legacy` use this module. It does not import the host, because ``import torch``
imports :mod:`.legacy`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from . import package_files
from ._ffi_gen import ffi
from ._paths import runtime_library
from .elf import ElfFile
from .errors import VendorLoadError
from .inspection import inspect_library


@cache
def load_runtime(path: Path | None = None) -> Any:
    """Load ``libdiopirt.so.1`` for the whole process; once.

    :raises VendorLoadError: it is missing or cannot be loaded.
    """
    path = path or runtime_library()
    return package_files.open_library(ffi, path, "dl-diopi-proto", VendorLoadError, visible=True)


def open_library(path: Path, *, legacy: bool = False, added: bool = False) -> tuple[Any, ElfFile]:
    """Check a library and load it with RTLD_LOCAL. It stays loaded.

    :param added: the library adds operators to a vendor's devices.
    :raises VendorLoadError: see :func:`inspect_library`; or the loader fails.
    """
    elf = inspect_library(path, legacy=legacy, added=added)
    if legacy:
        load_runtime()
    try:
        # Never unloaded: threads and thread-locals of a library may outlive its instances.
        flags = ffi.RTLD_NOW | ffi.RTLD_LOCAL | ffi.RTLD_NODELETE
        return ffi.dlopen(str(path), flags), elf
    except OSError as error:
        raise VendorLoadError(
            f"vendor library {path} cannot be loaded: {error}. It needs "
            f"{', '.join(elf.needed) or 'no other library'}.{_missing_function(str(error))}"
        ) from error


def _missing_function(message: str) -> str:
    """Return an explanation if the loader misses one of DIOPI's functions, otherwise nothing."""
    found = re.search(r"undefined symbol: (diopi\w+)", message)
    if found is None:
        return ""
    return (
        f" {found[1]} is not a runtime function of DIOPI that libdiopirt.so.1 has: link the "
        "library with the one that defines it, or build it for DIOPI's diopirt.h as in "
        "dl-diopi-proto."
    )
