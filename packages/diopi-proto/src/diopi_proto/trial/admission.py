"""Admission of a library: a trial before it is loaded, once for each state of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TrialUnavailableError, VendorLoadError
from .identity import identity_of
from .memory import LoadingMark, Verdict, cache_folder

if TYPE_CHECKING:
    from .result import Trial

_DEATHS = 2
"""Number of consecutive processes that may die while loading a library that passed its trial. After
that, the library is not loaded. One process alone may have been killed for another reason."""


@contextmanager
def admitted(
    path: str | Path, *, legacy: bool = False, added_to: str = "", timeout: float | None = None
) -> Iterator[str]:
    """Context manager around loading a library; admits it only after a successful trial.

    The trial runs in a child process. It is skipped if an earlier one succeeded and nothing has
    changed since; see :mod:`.identity`. If a process dies while loading the library nevertheless,
    the next process notices and runs a trial again; after two such deaths in a row the library is
    no longer loaded.

    :param added_to: for a library that adds operators, name of the vendor.
    :param timeout: seconds for a trial; None: :data:`.run.DEFAULT_TIMEOUT`.
    :returns: why no trial could be run; empty if one was run or could be skipped.
    :raises VendorLoadError: the library must not be loaded; the message has the reason.
    """
    path = Path(path).absolute()
    folder, identity = cache_folder(), identity_of(path, legacy, added_to)
    if folder is None or identity is None:
        _, untried = _run_trial(path, legacy, added_to, timeout)
        yield untried
        return
    verdict, mark = Verdict(folder, identity), LoadingMark(folder, identity)
    try:
        if mark.deaths >= _DEATHS:
            raise VendorLoadError(
                f"{path} is not loaded: the last {mark.deaths} processes died while loading it, "
                f"although its trial succeeded. Remove {mark.path} to have it "
                "loaded again."
            )
        trial, untried = None, ""
        if mark.deaths or not verdict.holds():
            verdict.forget()
            trial, untried = _run_trial(path, legacy, added_to, timeout)
    except BaseException:
        mark.leave()
        raise
    mark.begin()
    try:
        yield untried
    finally:
        mark.end()
    if trial is not None and trial.ok:
        verdict.remember(trial.files)


def _run_trial(
    path: Path, legacy: bool, added_to: str, timeout: float | None
) -> tuple[Trial | None, str]:
    # Imported late: most starts do not run a trial.
    from .run import DEFAULT_TIMEOUT, try_library

    try:
        limit = DEFAULT_TIMEOUT if timeout is None else timeout
        trial = try_library(path, legacy=legacy, added_to=added_to, timeout=limit)
    except TrialUnavailableError as error:
        return None, str(error)
    trial.check()
    return trial, ""
