"""Loader of ``libdl_host.so``, the C++ part of this host; all hosts share its checks of vendors."""

from __future__ import annotations

from functools import cache
from typing import Any

from ._ffi_gen import ffi
from ._paths import host_library
from .errors import VendorLoadError
from .package_files import open_library

_LONGEST_TEXT = 4096


@cache
def native() -> Any:
    """Return the library, loaded once.

    :raises VendorLoadError: the library is missing or cannot be loaded.
    """
    return open_library(ffi, host_library(), "dl-diopi-proto", VendorLoadError)


def number(name: str) -> int:
    """Return the value of an enumerator or macro of the headers."""
    return int(getattr(native(), name))


def c_string(word: str, keep: list[Any]) -> Any:
    """Return a C string that lives as long as ``keep``."""
    keep.append(ffi.new("char[]", word.encode()))
    return keep[-1]


def text(pointer: Any) -> str:
    """Return a vendor's C string as one printable line; empty for NULL. The pointer may be
    invalid.
    """
    if pointer == ffi.NULL:
        return ""
    out = ffi.new("char[]", _LONGEST_TEXT + 1)
    length = native().dl_checked_text(pointer, out, _LONGEST_TEXT + 1)
    return bytes(ffi.buffer(out, length)).decode()
