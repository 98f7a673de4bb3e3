"""Reader of a library's data: ``library.yaml``, the signature table and ``operators/*.yaml``.

It checks the form of the files; :mod:`dl_vendor_kit.library.check` checks their meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .case_file import read_cases
from .library_file import read_library
from .located import MOST_FINDINGS, DataError, Finding, Place
from .model import Data, Entry
from .yaml_file import read

_IGNORED = frozenset((".yml", ".yaml", ".json"))
"""Suffixes, in lower-case letters, of files that look like descriptions."""


def load(folder: Path, shown: str | None = None) -> Data:
    """Read ``library.yaml``, the signature table and ``operators/*.yaml``.

    :param shown: the path of the folder in findings; default: the folder itself.
    :raises DataError: ``library.yaml`` or the signature table is invalid.
    """
    library = read_library(folder, shown or str(folder))
    data = Data(library)
    try:
        next((folder / "operators").iterdir(), None)
    except OSError as error:
        where = Place(f"{library.shown}/operators", 1)
        message = f"cannot be read: {error.strerror}; create the folder, or correct its permissions"
        data.findings.append(Finding(where, "operators", message))
        return data
    data.findings += _unread(folder / "operators", f"{library.shown}/operators")
    seen: dict[str, Place] = {}
    for file in sorted((folder / "operators").glob("*.yaml")):
        try:
            root = read(file, f"{library.shown}/operators/{file.name}")
            entries = root.mapping(file.name)
            if not entries:
                raise DataError(
                    root.where, file.name, "describes no operator; add one, or remove the file"
                )
        except DataError as error:
            data.findings.append(error.finding)
            continue
        for name, value in entries.items():
            if len(data.findings) >= MOST_FINDINGS:
                return data
            where = root.places[name]
            try:
                if name in seen:
                    raise DataError(
                        where, name, f"is already described at {seen[name]}; remove one"
                    )
                seen[name] = where
                data.entries.append(Entry(name, file.stem, where, read_cases(name, value)))
            except DataError as error:
                data.findings.append(error.finding)
    return data


def _unread(folder: Path, shown: str) -> Iterator[Finding]:
    """Return findings about files that look like descriptions, and are not read."""
    for file in sorted(folder.rglob("*")):
        if file.suffix.lower() not in _IGNORED:
            continue
        if file.parent != folder:
            remedy = "move it to operators/"
        elif file.suffix != ".yaml":
            remedy = f"rename it to {file.stem}.yaml"
        else:
            continue
        path = file.relative_to(folder)
        yield Finding(
            Place(f"{shown}/{path}", 1),
            file.name,
            f"is not read, because it is not operators/FAMILY.yaml; {remedy}, or remove it",
        )
