"""Headers and libraries of a package, in its wheel or in a source checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def headers_of(package: Path) -> Path:
    """Return the folder of a package's headers, to pass to a C compiler with ``-I``."""
    installed = package / "include"
    return installed if installed.is_dir() else package.parents[1] / "include"


def open_library(
    ffi: Any, path: Path, wheel: str, error: type[Exception], *, visible: bool = False
) -> Any:
    """Open a library that a wheel contains. It stays loaded until the process ends.

    :param ffi: the cffi interface of its functions.
    :param wheel: name of the wheel, for messages.
    :param error: class of the exception.
    :param visible: make its symbols available to libraries that are loaded later.
    :raises error: the library is missing or cannot be loaded.
    """
    if not path.is_file():
        raise error(
            f"{path} is missing. Reinstall {wheel}, which contains it; in a source checkout run "
            "`python setup.py build_ext --inplace`."
        )
    scope = ffi.RTLD_GLOBAL if visible else ffi.RTLD_LOCAL
    try:
        return ffi.dlopen(str(path), ffi.RTLD_NOW | ffi.RTLD_NODELETE | scope)
    except OSError as failure:
        raise error(f"cannot load {path}: {failure}") from failure
