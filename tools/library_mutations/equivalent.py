"""Mutations that change nothing: lists with reasons, which become stale with the description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from dl_vendor_kit.library.model import Entry, Library

from .mutations import mutations

FOLDER = Path(__file__).parent / "equivalent"


def reasons(package: str) -> Mapping[str, str]:
    """Return the reasons by the names of the mutations of a vendor's package.

    :raises ValueError: a mutation has no reason.
    """
    path = FOLDER / f"{package}.yaml"
    if not path.is_file():
        return {}
    listed = yaml.safe_load(path.read_text(encoding="utf-8")) or []
    found = {}
    for group in listed:
        for name in group["mutations"]:
            if not group.get("reason"):
                raise ValueError(f"{path.name}: {name} has no reason")
            found[name] = str(group["reason"])
    return found


def stale(library: Library, entries: Iterable[Entry], names: Iterable[str]) -> list[str]:
    """Return the names that are not mutations of the present descriptions."""
    wanted = {*names}
    operators = {name.partition(":")[0] for name in wanted}
    present = {
        mutation.name
        for entry in entries
        if entry.name in operators
        for mutation in mutations(library, entry)
    }
    return sorted(wanted - present)
