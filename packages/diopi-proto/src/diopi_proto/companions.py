"""Libraries of others that a vendor uses where they are installed: which of them are here.

A vendor's library looks for them itself when it needs one; this is what its plugin says to
``dl doctor``, and opens nothing. Imports next to nothing, because ``import torch`` imports plugins.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Companion", "Finder"]

_CACHE = Path("/etc/ld.so.cache")
_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")


@dataclass(frozen=True)
class Companion:
    """One library. The vendor's own code has the same (``dl/kit/companion.h``)."""

    name: str
    variable: str
    """Names another one; ``off`` is none."""
    names: tuple[str, ...]
    """How the loader knows it, the best one first; a path is where wheels put it, from the folder
    of packages, and the loader knows it by the end of that."""
    install: str
    """``"`pip install nvidia-nccl-cu13`"``."""
    does: str
    computes: bool = False
    """Operators use it, unless a variable says ``off`` to all such libraries."""
    with_any_driver: bool = False
    """It knows nothing of the driver."""


@dataclass(frozen=True)
class Finder:
    """Where a vendor's libraries are looked for."""

    packages: Path
    """The folder of the vendor's own package and of its neighbours."""
    driver: str
    """The variable that names another driver, whose companions are not known."""
    switch: str
    """The variable that turns off what computes."""
    folders: tuple[str, ...] = ()
    """Where the makers' installers put libraries that the loader does not find."""

    def states(
        self, companions: Iterable[Companion], environ: Mapping[str, str] = os.environ
    ) -> dict[str, str]:
        """By name, where each library is, or how to have it."""
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
        beside = [self.packages / path for path in one.names if "/" in path]
        yield from (str(path) for path in beside if path.is_file())
        folders = [f for f in environ.get("LD_LIBRARY_PATH", "").split(":") if f]
        for path in one.names:
            name = Path(path).name
            yield from (f"{folder}/{name}" for folder in folders if Path(folder, name).is_file())
            yield from _cached(name)
            others = (*_FOLDERS, *self.folders)
            yield from (f"{folder}/{name}" for folder in others if Path(folder, name).is_file())


def _cached(name: str) -> Iterator[str]:
    """The loader's cache holds paths between NULs."""
    try:
        cache = _CACHE.read_bytes()
    except OSError:
        return
    for match in re.finditer(rb"/[^\0]*/" + re.escape(name.encode()) + rb"\0", cache):
        path = os.fsdecode(match[0][:-1])
        if Path(path).is_file():
            yield path
