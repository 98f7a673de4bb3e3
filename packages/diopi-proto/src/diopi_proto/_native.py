"""``libdl_host.so``: what this host has in C++, so that all hosts check vendors alike."""

from __future__ import annotations

from functools import cache
from typing import Any

from ._ffi_gen import ffi
from ._paths import host_library
from .errors import VendorLoadError

_LONGEST_TEXT = 4096


@cache
def native() -> Any:
    """The library, loaded once.

    :raises VendorLoadError: it is not there, or cannot be loaded.
    """
    path = host_library()
    if not path.is_file():
        raise VendorLoadError(
            f"this host needs {path}, which is not there. The wheel has it; in a source checkout "
            "run `python setup.py build_ext --inplace`."
        )
    try:
        return ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_LOCAL | ffi.RTLD_NODELETE)
    except OSError as error:
        raise VendorLoadError(f"cannot load {path}: {error}") from error


def text(pointer: Any) -> str:
    """A C string of a vendor as one printable line; empty for NULL, whatever it points to."""
    if pointer == ffi.NULL:
        return ""
    out = ffi.new("char[]", _LONGEST_TEXT + 1)
    length = native().dl_checked_text(pointer, out, _LONGEST_TEXT + 1)
    return bytes(ffi.buffer(out, length)).decode()
