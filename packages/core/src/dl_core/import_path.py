"""Which folders of sys.path dl-core trusts: not the current one, none that others can write to.

Python puts the current folder on its path for ``python -c`` and ``python -m``, and for an empty or
relative part of ``PYTHONPATH``. What a program imports by name is its own affair; what dl-core
finds by itself - plugins, and what the ``dl`` command needs - it takes from trusted folders only.
"""

# ruff: noqa: PTH100, PTH109, PTH117 - before the path is in order, pathlib is found where it may be

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from dl_core.environment import environment


def without_current_folder(
    path: Sequence[str], environ: Mapping[str, str], *, first_is_implied: bool
) -> list[str]:
    """``path`` without what stands in it for the current folder, unless it is named absolutely.

    :param first_is_implied: Python itself has put the first one there.
    """
    try:
        here = os.getcwd()
    except OSError:  # it was deleted
        here = None
    given = environ.get("PYTHONPATH") or "/"
    parts = given.split(os.pathsep)
    # Python has made them absolute, and an empty one the current folder.
    implied = here is not None and any(
        os.path.abspath(part) == here for part in parts if not os.path.isabs(part)
    )
    named = [part for part in parts if os.path.isabs(part)]
    kept = []
    for position, entry in enumerate(path):
        # Python itself passes over what is no text.
        if not isinstance(entry, str) or not os.path.isabs(entry):
            continue
        if (
            entry == here
            and entry not in named
            and (implied or (position == 0 and first_is_implied))
        ):
            continue
        kept.append(entry)
    return kept


def usual_path() -> list[str]:
    """``sys.path`` without the current folder."""
    safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    return without_current_folder(sys.path, environment(), first_is_implied=not safe)


def _absolute(entry: str) -> str:
    try:
        return os.path.abspath(entry)
    except OSError:  # the current folder was deleted
        return entry


class TrustedPath:
    """``sys.path`` while plugins are found and imported: a context manager, to be used again."""

    def __init__(self) -> None:
        from diopi_proto.trust import why_untrusted

        usual = usual_path()
        self.refused: dict[str, str] = {}
        """Parts that dl-core does not go by, each with the reason."""
        for entry in sys.path:
            if not isinstance(entry, str):
                continue
            if entry in usual:
                if (reason := why_untrusted(entry)) is not None:
                    self.refused[entry] = reason
            elif (folder := _absolute(entry)) not in usual:
                self.refused[folder] = "the current folder is no place to import from"
        self._kept = [entry for entry in usual if entry not in self.refused]
        self._before: list[str] = []

    def __enter__(self) -> list[str]:
        self._before = list(sys.path)
        sys.path[:] = self._kept
        return sys.path

    def __exit__(self, *exception: object) -> None:
        # What was added meanwhile stays.
        added = [entry for entry in sys.path if entry not in self._kept]
        sys.path[:] = self._before + [entry for entry in added if entry not in self._before]


def leave_current_folder() -> None:
    """Take the current folder off the path; the ``dl`` command starts with it, before it imports
    anything that could be found there."""
    sys.path[:] = usual_path()
