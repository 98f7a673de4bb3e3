"""Loading a library in a process of its own first, to survive one that crashes while it loads."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from ..errors import VendorLoadError

_PACKAGE_PARENT = Path(__file__).resolve().parents[2]
_CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
from diopi_proto.host.probe import child
sys.exit(child(sys.argv[2], sys.argv[3] == "legacy"))
"""
_FAILED = 3

_Key = tuple[str, int, int, bool]
_results: dict[_Key, ProbeResult] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class ProbeResult:
    """What loading a library in a process of its own came to."""

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
    """Load a library, create an instance and destroy it, all in another process.

    A result is kept until the file changes, except for a timeout.

    :param timeout: seconds; None waits for ever.
    :raises VendorLoadError: the file does not exist, or no process can be started.
    """
    path = Path(path).absolute()
    try:
        stat = path.stat()
    except OSError as error:
        raise VendorLoadError(
            f"vendor library {path} cannot be probed: {error.strerror}"
        ) from error
    key = (str(path), stat.st_mtime_ns, stat.st_size, legacy)
    with _lock:
        known = _results.get(key)
    if known is not None:
        return known
    result, final = _probe(path, legacy, timeout)
    if final:
        with _lock:
            _results[key] = result
    return result


def _probe(path: Path, legacy: bool, timeout: float | None) -> tuple[ProbeResult, bool]:
    kind = "legacy" if legacy else "vendor"
    command = [sys.executable, "-I", "-c", _CHILD, str(_PACKAGE_PARENT), str(path), kind]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"{path} did not finish loading within {timeout} seconds"
        return ProbeResult(path, False, False, None, message), False
    except OSError as error:
        raise VendorLoadError(
            f"vendor library {path} cannot be probed: starting {sys.executable!r} failed ({error})"
        ) from error
    if done.returncode == 0:
        return ProbeResult(path, True, True, None, ""), True
    if done.returncode < 0:
        name = _signal_name(-done.returncode)
        message = (
            f"{path} crashed with {name} while it was loaded. SIGILL means code for another "
            "processor; for the rest ask the vendor."
        )
        return ProbeResult(path, False, False, name, message), True
    if done.returncode == _FAILED:
        message = json.loads(done.stdout.splitlines()[-1])
        return ProbeResult(path, False, True, None, message), True
    message = f"probing {path} ended with code {done.returncode}: {done.stderr.strip()[-500:]}"
    return ProbeResult(path, False, False, None, message), True


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def child(path: str, legacy: bool) -> int:
    """What the other process runs: 0, or the reason as JSON on standard output."""
    from ..errors import DiopiError
    from .load import load_vendor

    try:
        load_vendor(path, legacy=legacy).close()
    except DiopiError as error:
        sys.stdout.write("\n" + json.dumps(str(error)) + "\n")
        return _FAILED
    return 0
