"""Says whether a library can be loaded and what it offers, without loading it in this process."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from ..errors import TrialUnavailableError, VendorLoadError
from ..trial import Trial, try_library
from ..trial.identity import identity_of

_DAY = 86400.0

_results: dict[str, Trial] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class ProbeResult:
    """Outcome of loading a library in a child process."""

    path: Path
    ok: bool
    safe: bool
    """Loading it here does no harm: it works, or it refuses in order."""
    signal: str | None
    """The name of the signal that ended the process, ``"SIGSEGV"``."""
    message: str
    """Why it is not ok; empty if it is."""


def probe_library(
    path: str | Path, *, legacy: bool = False, timeout: float | None = 60.0
) -> ProbeResult:
    """Try a library in another process: load it, create an instance, ask for operators and devices.

    A result is kept until something changes that it depends on, except for a timeout.

    :param timeout: seconds; None: a day.
    :raises VendorLoadError: the file does not exist, or no process can be started.
    """
    path = Path(path).absolute()
    identity = identity_of(path, legacy)
    if identity is None:
        raise VendorLoadError(f"vendor library {path} cannot be probed: there is no such file")
    with _lock:
        trial = _results.get(identity)
    if trial is None:
        try:
            trial = try_library(path, legacy=legacy, timeout=_DAY if timeout is None else timeout)
        except TrialUnavailableError:
            raise
        except VendorLoadError as error:
            return ProbeResult(path, False, True, None, str(error))
        if trial.ok or trial.signal is not None or trial.refusal:
            with _lock:
                _results[identity] = trial
    safe = not trial.failure and not trial.unloadable
    return ProbeResult(path, trial.ok, safe, trial.signal, trial.problem)
