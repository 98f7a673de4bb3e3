"""Run a trial: start its process, read its report, and clean up."""

from __future__ import annotations

import importlib.util
import os
import re
import select
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

from .._paths import runtime_library
from ..errors import TrialUnavailableError
from ..inspection import inspect_library
from ..schema import load
from ..text import printable
from ..worker.system import kill_group
from ..worker.tail import Tail
from .result import Trial, read_report

DEFAULT_TIMEOUT = 30.0

_CODE = "import sys; sys.path += {roots!r}; from diopi_proto._trial_child import main; main()"
_LONGEST_REPORT = 1 << 24
_LONGEST_WORDS = 1 << 12
_GRACE = 15.0
"""Seconds after the trial's own timeout at which its process is killed."""
_PYTHON = re.compile(r"(python|pypy)[\d.]*[a-z]?")


def try_library(
    path: str | Path,
    *,
    legacy: bool = False,
    added_to: str = "",
    timeout: float = DEFAULT_TIMEOUT,
) -> Trial:
    """Load a library in a child process and make the calls that a host makes at startup.

    The child does not receive signals of this process. Effects of the library on its process -
    working folder, limits, descriptors, daemons, endless output - do not reach this process and end
    with the child.

    :param legacy: the library exports DIOPI's operators by name instead of ``dl_vendor_v1``.
    :param added_to: for a library that adds operators, name of the vendor.
    :param timeout: timeout of the whole trial in seconds.
    :raises VendorLoadError: inspection of the file shows that it cannot be loaded.
    :raises TrialUnavailableError: no process could be started.
    """
    path = Path(path).absolute()
    elf = inspect_library(path, legacy=legacy, added=bool(added_to))
    runtime = str(runtime_library()) if legacy else ""
    beside = _companions(elf.needed)
    lines, said = _run([str(path), runtime, added_to], beside, timeout)
    trial = read_report(path, legacy, lines, said, timeout)
    if legacy and trial.ok:
        schema = load()
        listed = {name: schema[name].fingerprint for name in elf.exported & schema.keys()}
        trial = replace(trial, operators=listed)
    return trial


def _companions(needed: tuple[str, ...]) -> list[str]:
    """Return loaded libraries of this process whose names the library needs: the loader would use
    these instead of searching."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    paths = {line[line.index("/") :] for line in maps.splitlines() if "/" in line}
    return sorted(path for path in paths if Path(path).name in needed)


def _interpreter() -> str:
    """Return the path of the Python interpreter; an embedding program must not be started again."""
    found = sys.executable
    if not found or getattr(sys, "frozen", False) or not _PYTHON.fullmatch(Path(found).name):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        found = str(Path(sys.exec_prefix) / "bin" / f"python{version}")
        if not Path(found).is_file():
            raise TrialUnavailableError(
                f"the trial needs the Python interpreter {found}, which does not exist"
            )
    return found


def _roots() -> list[str]:
    """Return the folders of this package and of cffi, as imported by this process."""
    cffi = importlib.util.find_spec("_cffi_backend")
    if cffi is None or cffi.origin is None:
        raise TrialUnavailableError("the trial needs cffi, which is not installed")
    ours = Path(__file__).resolve().parents[2]
    return list(dict.fromkeys([str(ours), str(Path(cffi.origin).resolve().parent)]))


def _run(arguments: list[str], companions: list[str], timeout: float) -> tuple[list[str], str]:
    """Return the lines of the report, and the last line that was written to standard error."""
    command = [_interpreter(), "-I", "-S", "-c", _CODE.format(roots=_roots())]
    with Tail(_LONGEST_REPORT) as report, Tail(_LONGEST_WORDS) as errors:
        try:
            process = subprocess.Popen(
                [
                    *command,
                    *arguments,
                    *(str(report.writer), str(os.getpid()), repr(timeout)),
                    *companions,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors.writer,
                pass_fds=(report.writer,),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            raise TrialUnavailableError(
                f"the process of its trial could not be started: {error.strerror}"
            ) from error
        try:
            report.close_writer()
            errors.close_writer()
            _listen(report, errors, time.monotonic() + timeout + _GRACE)
        finally:
            # After a complete report, the process is about to end.
            if not _is_whole(report):
                kill_group(process.pid)
            process.wait()
    lines = report.text().splitlines()
    if '"end": "error"' in (lines[-1] if lines else ""):
        raise TrialUnavailableError("the process of its trial could not be started")
    return lines, printable(errors.text().strip().rpartition("\n")[2])[-300:]


def _listen(report: Tail, errors: Tail, deadline: float) -> None:
    """Read until the report's last line, even if other processes still hold the pipes open."""
    poll = select.poll()
    tails = {tail.reader: tail for tail in (report, errors)}
    for reader in tails:
        poll.register(reader, select.POLLIN)
    while report.reader in tails and not _is_whole(report):
        left = deadline - time.monotonic()
        if left <= 0:
            return
        for reader, _ in poll.poll(left * 1000):
            if tails[reader].read() == b"":
                poll.unregister(reader)
                del tails[reader]
    errors.read()


def _is_whole(report: Tail) -> bool:
    """Return True if a report is complete."""
    start = report.content.rfind(b"\n", 0, -1) + 1
    return report.content.endswith(b"\n") and report.content.startswith(b'{"end"', start)
