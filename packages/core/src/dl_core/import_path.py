"""Which parts of Python's path dl-core goes by: not the current folder, none that others write to.

Python puts the current folder on its path for ``python -c`` and ``python -m``, and for an empty or
relative part of ``PYTHONPATH``. What a program imports by name is its own affair; what dl-core
finds by itself - plugins, and what the ``dl`` command needs - it takes from trusted folders only.
"""

# ruff: noqa: PTH100, PTH109, PTH117 - before the path is in order, pathlib is found where it may be

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager


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
    given = environ.get("PYTHONPATH", "").split(os.pathsep)
    implied = [part for part in given if not os.path.isabs(part)] if given != [""] else []
    named = [part for part in given if os.path.isabs(part)]
    unwanted = {os.path.abspath(part) for part in implied} if here is not None else set()
    unwanted -= {os.path.normpath(part) for part in named}
    kept = []
    for position, entry in enumerate(path):
        if not os.path.isabs(entry) or entry in unwanted:
            continue
        if position == 0 and first_is_implied and entry == here and entry not in named:
            continue
        kept.append(entry)
    return kept


def usual_path() -> list[str]:
    """``sys.path`` without the current folder."""
    safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    return without_current_folder(sys.path, os.environ, first_is_implied=not safe)


def refused_parts() -> dict[str, str]:
    """The parts of ``sys.path`` that dl-core does not go by, each with the reason."""
    from diopi_proto.trust import why_untrusted

    usual = usual_path()
    reasons = {}
    for entry in sys.path:
        if entry not in usual:
            folder = os.path.abspath(entry)
            if folder in usual:  # named as well
                continue
            reasons[folder] = f"{folder} is the current folder, which anything may lie in"
        elif (reason := why_untrusted(entry)) is not None:
            reasons[entry] = reason
    return reasons


@contextmanager
def trusted_path() -> Iterator[None]:
    """While plugins are found and imported, ``sys.path`` has only the parts that are trusted."""
    before = list(sys.path)
    refused = refused_parts()
    kept = [entry for entry in usual_path() if entry not in refused]
    sys.path[:] = kept
    try:
        yield
    finally:
        # What was added meanwhile stays.
        added = [entry for entry in sys.path if entry not in kept]
        sys.path[:] = before + [entry for entry in added if entry not in before]


def leave_current_folder() -> None:
    """Take the current folder off the path; the ``dl`` command starts with it, before it imports
    anything that could be found there."""
    sys.path[:] = usual_path()
