"""Probe of a library in a child process: can it be loaded, and what does it contain?"""

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
    """True if loading it here is safe: it works, or returns an error as the contract allows."""
    signal: str | None
    """Name of the signal that ended the process, such as ``"SIGSEGV"``."""
    message: str
    """Why it is not ok; empty if it is ok."""


def probe_library(
    path: str | Path, *, legacy: bool = False, timeout: float | None = 60.0
) -> ProbeResult:
    """Load a library in a child process, create an instance, and read its operators and devices.

    The result is cached until one of its dependencies changes; timeouts are not cached.

    :param timeout: timeout in seconds; None: one day.
    :raises VendorLoadError: the file does not exist, or no process can be started.
    """
    path = Path(path).absolute()
    identity = identity_of(path, legacy)
    if identity is None:
        raise VendorLoadError(f"vendor library {path} cannot be probed: the file does not exist")
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
