"""Around loading a library: it is tried beforehand, once for each state of this machine."""

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
"""Processes that may die of a library, although trying it went well, before it is left alone. One
may have been killed by somebody."""


@contextmanager
def admitted(
    path: str | Path, *, legacy: bool = False, timeout: float | None = None
) -> Iterator[str]:
    """Load the library within this: only if that neither crashes nor hangs this process.

    It is tried in a process of its own, unless that went well before and nothing has changed since:
    see :mod:`.identity`. What dies while loading it nevertheless is noticed by the next one, which
    tries again; after two in a row the library is not loaded any more.

    :param timeout: seconds for a trial; None: :data:`.run.DEFAULT_TIMEOUT`.
    :returns: why it could not be tried beforehand; empty if it was.
    :raises VendorLoadError: it must not be loaded here; the message says why.
    """
    path = Path(path).absolute()
    folder, identity = cache_folder(), identity_of(path, legacy)
    if folder is None or identity is None:
        _, untried = _tried(path, legacy, timeout)
        yield untried
        return
    verdict, mark = Verdict(folder, identity), LoadingMark(folder, identity)
    try:
        if mark.deaths >= _DEATHS:
            raise VendorLoadError(
                f"{path} is not loaded: the last {mark.deaths} processes that loaded it died while "
                f"doing so, although trying it beforehand went well. Remove {mark.path} to have it "
                "loaded again."
            )
        trial, untried = None, ""
        if mark.deaths or not verdict.holds():
            verdict.forget()
            trial, untried = _tried(path, legacy, timeout)
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


def _tried(path: Path, legacy: bool, timeout: float | None) -> tuple[Trial | None, str]:
    # Most starts need none of this.
    from .run import DEFAULT_TIMEOUT, try_library

    try:
        limit = DEFAULT_TIMEOUT if timeout is None else timeout
        trial = try_library(path, legacy=legacy, timeout=limit)
    except TrialUnavailableError as error:
        return None, str(error)
    trial.check()
    return trial, ""
