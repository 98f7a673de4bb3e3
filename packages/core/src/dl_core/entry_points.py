"""Entry points of group ``dl``, read from the wheels of given folders without trusting them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from diopi_proto.text import printable
from dl_core.errors import describe_error
from dl_core.hookspecs import PROJECT


class Declared(NamedTuple):
    """An entry point of group ``dl``, or the reason why a wheel's entry points cannot be read. All
    texts are printable."""

    name: str
    value: str
    """Name of the module."""
    distribution: str
    """Name of the wheel."""
    version: str
    """Version of the wheel."""
    entry: importlib.metadata.EntryPoint | None
    error: str = ""


def read_entry_points(path: Sequence[str]) -> Iterator[Declared]:
    """Yield the entry points of the wheels in the folders of ``path``. If two have the same name,
    the first is used."""
    seen = set()
    for distribution in importlib.metadata.distributions(path=list(path)):
        try:
            # The public `name` attribute needs the e-mail parser, which is slow to import; the
            # folder's name contains it too.
            name = getattr(distribution, "_normalized_name", None) or distribution.name
        except Exception:  # noqa: BLE001 - a folder that only looks like a wheel
            continue
        if name in seen:
            continue
        seen.add(name)
        try:
            found = _of(distribution)
        except Exception as error:  # noqa: BLE001 - whatever reading or parsing it raises
            said = f"its entry points cannot be read: {describe_error(error)}."
            yield Declared(printable(name), "", *_identity(distribution, name), None, said)
            continue
        for entry in found:
            wheel = _identity(distribution, name)
            if not entry.name:
                yield Declared(printable(name), "", *wheel, None, "its plugin has no name.")
                continue
            yield Declared(printable(entry.name), printable(entry.value), *wheel, entry)


def _of(distribution: importlib.metadata.Distribution) -> Sequence[importlib.metadata.EntryPoint]:
    # Most wheels have no plugin, and parsing all entry points takes a large part of the startup.
    if f"[{PROJECT}]" in (distribution.read_text("entry_points.txt") or ""):
        return list(distribution.entry_points.select(group=PROJECT))
    return []


def _identity(distribution: importlib.metadata.Distribution, fallback: str) -> tuple[str, str]:
    """Return name and version. Scans the headers directly, because the e-mail parser is slow to
    import."""
    found: dict[str, str] = {}
    try:
        text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    except Exception:  # noqa: BLE001 - they serve messages only
        text = ""
    for line in text.splitlines():
        if not line or len(found) == 2:
            break
        key, _, value = line.partition(":")
        if key in ("Name", "Version"):
            found[key] = printable(value.strip())
    return found.get("Name", printable(fallback)), found.get("Version", "unknown")
