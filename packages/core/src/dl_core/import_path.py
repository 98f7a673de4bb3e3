"""Folders of sys.path that dl-core trusts: not the current one, and none that others can write to.

Python adds the current folder to its path for ``python -c`` and ``python -m``, and for an empty or
relative part of ``PYTHONPATH``. Programs may import from it; dl-core finds plugins and the modules
of the ``dl`` command in trusted folders only.
"""

# ruff: noqa: PTH100, PTH109, PTH117 - pathlib must not be imported before the path is cleaned

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from dl_core.environment import environment


def without_current_folder(
    path: Sequence[str], environ: Mapping[str, str], *, first_is_implied: bool
) -> list[str]:
    """Return ``path`` without entries for the current folder, except those that name it absolutely.

    :param first_is_implied: the first entry was added by Python itself.
    """
    try:
        here = os.getcwd()
    except OSError:  # the current folder was deleted
        here = None
    given = environ.get("PYTHONPATH") or "/"
    parts = given.split(os.pathsep)
    # Python has made these entries absolute, and replaced an empty one with the current folder.
    implied = here is not None and any(
        os.path.abspath(part) == here for part in parts if not os.path.isabs(part)
    )
    named = [part for part in parts if os.path.isabs(part)]
    kept = []
    for position, entry in enumerate(path):
        # Python itself ignores entries that are not strings.
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
    """Return ``sys.path`` without the current folder."""
    safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    return without_current_folder(sys.path, environment(), first_is_implied=not safe)


def _absolute(entry: str) -> str:
    try:
        return os.path.abspath(entry)
    except OSError:  # the current folder was deleted
        return entry


class TrustedPath:
    """Reusable context manager that restricts ``sys.path`` while plugins are found and imported."""

    def __init__(self) -> None:
        from diopi_proto.trust import why_untrusted

        usual = usual_path()
        self.refused: dict[str, str] = {}
        """Ignored folders, each with the reason."""
        for entry in sys.path:
            if not isinstance(entry, str):
                continue
            if entry in usual:
                if (reason := why_untrusted(entry)) is not None:
                    self.refused[entry] = reason
            elif (folder := _absolute(entry)) not in usual:
                self.refused[folder] = "the current folder is not trusted"
        self._kept = [entry for entry in usual if entry not in self.refused]
        self._before: list[str] = []

    def __enter__(self) -> list[str]:
        self._before = list(sys.path)
        sys.path[:] = self._kept
        return sys.path

    def __exit__(self, *exception: object) -> None:
        # Keep entries that were added in the meantime.
        added = [entry for entry in sys.path if entry not in self._kept]
        sys.path[:] = self._before + [entry for entry in added if entry not in self._before]


def leave_current_folder() -> None:
    """Remove the current folder from the path; the ``dl`` command calls this before any import that
    the folder could hijack."""
    sys.path[:] = usual_path()
