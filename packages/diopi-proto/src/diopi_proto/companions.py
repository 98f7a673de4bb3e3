"""Optional third-party libraries of a vendor, such as cuBLAS, and whether they are installed.

A vendor's library finds them itself at run time. This module only reports them for ``dl doctor``
and opens none. It imports next to nothing, because ``import torch`` imports plugins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Companion", "Finder", "installed_paths"]

_CACHE = Path("/etc/ld.so.cache")
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


@dataclass(frozen=True)
class Companion:
    """One optional library; mirrors ``dl/kit/companion.h`` of the vendor's own code."""

    name: str
    variable: str
    """Environment variable with the path of another library to use; ``off`` disables this one."""
    names: tuple[str, ...]
    """Names for the dynamic loader, in order of preference. A path is relative to site-packages,
    where a wheel installs the library; the loader knows the library by the last component of the
    path."""
    install: str
    """How to install the library: ``"`pip install nvidia-nccl-cu13`"``."""
    does: str
    computes: bool = False
    """True if operators compute with it; then the switch that disables all such
    libraries applies."""
    with_any_driver: bool = False
    """True if it does not depend on the driver."""


@dataclass(frozen=True)
class Finder:
    """Search for the companion libraries of a vendor."""

    packages: Path
    """The site-packages folder that contains the vendor's package."""
    driver: str
    """The variable that selects another driver. The companions of that driver are unknown."""
    switch: str
    """The variable that disables all libraries that compute."""
    folders: tuple[str, ...] = ()
    """Folders of the manufacturer's installers, which the loader does not search."""

    def states(
        self, companions: Iterable[Companion], environ: Mapping[str, str] = os.environ
    ) -> dict[str, str]:
        """Return by name the path of each library, or how to install it."""
        found = {}
        for one in companions:
            off = one.computes and environ.get(self.switch) == "off"
            found[one.name] = f"off ({self.switch})" if off else self._state(one, environ)
        return found

    def _state(self, one: Companion, environ: Mapping[str, str]) -> str:
        chosen = environ.get(one.variable)
        if chosen == "off":
            return f"off ({one.variable})"
        if chosen:
            there = Path(chosen).is_absolute() and Path(chosen).is_file()
            return chosen if there else f"no {chosen}"
        if environ.get(self.driver) and not one.with_any_driver:
            return f"not used with another driver ({self.driver}), unless {one.variable} names one"
        path = next(self._places(one, environ), None)
        return path or f"not installed; {one.install}: {one.does}"

    def _places(self, one: Companion, environ: Mapping[str, str]) -> Iterator[str]:
        packaged = [self.packages / path for path in one.names if "/" in path]
        yield from (str(path) for path in packaged if path.is_file())
        for path in one.names:
            yield from installed_paths(Path(path).name, environ, self.folders)


def installed_paths(
    name: str, environ: Mapping[str, str] = os.environ, folders: Iterable[str] = ()
) -> Iterator[str]:
    """Return where the dynamic loader would find a library, without opening it.

    :param folders: folders to search after the loader's own.
    """
    first = [f for f in environ.get("LD_LIBRARY_PATH", "").split(":") if f]
    yield from (f"{folder}/{name}" for folder in first if Path(folder, name).is_file())
    yield from _cached(name)
    last = (*_FOLDERS, *folders)
    yield from (f"{folder}/{name}" for folder in last if Path(folder, name).is_file())


def _cached(name: str) -> Iterator[str]:
    """Return the paths in the loader's cache file, in which NULs separate them."""
    try:
        cache = _CACHE.read_bytes()
    except OSError:
        return
    for match in re.finditer(rb"/[^\0]*/" + re.escape(name.encode()) + rb"\0", cache):
        path = os.fsdecode(match[0][:-1])
        if Path(path).is_file():
            yield path
