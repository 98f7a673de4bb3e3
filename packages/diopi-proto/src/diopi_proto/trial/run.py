"""Running a trial: starting its process, reading its report, and leaving nothing behind."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from .._paths import runtime_library
from ..errors import TrialUnavailableError
from ..inspection import inspect_library
from ..schema import load
from ..text import printable
from .result import Trial, read_report

DEFAULT_TIMEOUT = 30.0

_CODE = "import sys; sys.path += {roots!r}; from diopi_proto._trial_child import main; main()"
_LONGEST_REPORT = 1 << 24
_LONGEST_WORDS = 1 << 12
_GRACE = 15.0
"""Seconds beyond its own limit after which a trial has no more to say."""
_PYTHON = re.compile(r"(python|pypy)[\d.]*[a-z]?")


def try_library(
    path: str | Path, *, legacy: bool = False, timeout: float = DEFAULT_TIMEOUT
) -> Trial:
    """Load a library in a process of its own and ask it for all that a host asks for at its start.

    The process sees none of this one's signals, and what the library does to its own - folder,
    limits, descriptors, daemons, endless output - has no effect here and ends with it.

    :param legacy: the library exports DIOPI's operators by name instead of ``dl_vendor_v1``.
    :param timeout: seconds for the whole trial.
    :raises VendorLoadError: the file alone tells that it cannot be loaded.
    :raises TrialUnavailableError: no process could be started.
    """
    path = Path(path).absolute()
    elf = inspect_library(path, legacy=legacy)
    runtime = str(runtime_library()) if legacy else ""
    beside = _companions(elf.needed)
    lines, said = _run([str(path), runtime], beside, timeout)
    trial = read_report(path, legacy, lines, said, timeout)
    if legacy and trial.ok:
        schema = load()
        listed = {name: schema[name].fingerprint for name in elf.exported & schema.keys()}
        trial = replace(trial, operators=listed)
    return trial


def _companions(needed: tuple[str, ...]) -> list[str]:
    """What this process has loaded already under a name that the library asks for: the loader would
    take that, wherever it came from."""
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    paths = {line[line.index("/") :] for line in maps.splitlines() if "/" in line}
    return sorted(path for path in paths if Path(path).name in needed)


def _interpreter() -> str:
    """This interpreter. Where it is part of another program, that must not be started again."""
    found = sys.executable
    if not found or getattr(sys, "frozen", False) or not _PYTHON.fullmatch(Path(found).name):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        found = str(Path(sys.exec_prefix) / "bin" / f"python{version}")
        if not Path(found).is_file():
            raise TrialUnavailableError(f"there is no interpreter {found} to try it with")
    return found


def _roots() -> list[str]:
    """The folders of this package and of cffi: those that are imported here, and no others."""
    cffi = importlib.util.find_spec("_cffi_backend")
    if cffi is None or cffi.origin is None:
        raise TrialUnavailableError("cffi is not installed, which trying it needs")
    ours = Path(__file__).resolve().parents[2]
    return list(dict.fromkeys([str(ours), str(Path(cffi.origin).resolve().parent)]))


def _run(arguments: list[str], companions: list[str], timeout: float) -> tuple[list[str], str]:
    """The lines of the report, and the last line that was written to standard error."""
    command = [_interpreter(), "-I", "-S", "-c", _CODE.format(roots=_roots())]
    with ExitStack() as stack:
        try:
            report, errors = _Pipe(stack, _LONGEST_REPORT), _Pipe(stack, _LONGEST_WORDS)
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
                f"no process could be started to try it: {error.strerror}"
            ) from error
        stack.callback(_end, process, report)
        report.close_writer()
        errors.close_writer()
        _listen(report, errors, time.monotonic() + timeout + _GRACE)
    lines = report.text().splitlines()
    if '"end": "error"' in (lines[-1] if lines else ""):
        raise TrialUnavailableError("no process could be started to try it")
    return lines, printable(errors.text().strip().rpartition("\n")[2])[-300:]


def _listen(report: _Pipe, errors: _Pipe, deadline: float) -> None:
    """Until the report has its last line, whoever still holds the pipes open."""
    poll = select.poll()
    open_pipes = {pipe.reader: pipe for pipe in (report, errors)}
    for reader in open_pipes:
        poll.register(reader, select.POLLIN)
    while report.reader in open_pipes and not report.ended:
        left = deadline - time.monotonic()
        if left <= 0:
            return
        for reader, _ in poll.poll(left * 1000):
            if not open_pipes[reader].read():
                poll.unregister(reader)
                del open_pipes[reader]
    errors.read_rest()


def _end(process: subprocess.Popen[bytes], report: _Pipe) -> None:
    """After a whole report nothing is left but a process that is just ending."""
    if not report.ended:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Pipe:
    """A pipe that keeps the end of what comes through it.

    :param longest: bytes that are kept at least.
    """

    def __init__(self, stack: ExitStack, longest: int) -> None:
        self._longest = longest
        self._content = bytearray()
        self.reader, self.writer = os.pipe()
        stack.callback(self._close)
        # Where this process has closed its standard streams, a pipe has taken their numbers.
        self.reader, self.writer = _high(self.reader), _high(self.writer)

    def close_writer(self) -> None:
        os.close(self.writer)
        self.writer = -1

    def _close(self) -> None:
        for descriptor in (self.reader, self.writer):
            if descriptor >= 0:
                os.close(descriptor)

    def read(self) -> bool:
        """Whether there was something."""
        data = os.read(self.reader, 1 << 16)
        self._content += data
        if len(self._content) > 2 * self._longest:
            del self._content[: -self._longest]
        return bool(data)

    def read_rest(self) -> None:
        os.set_blocking(self.reader, False)
        with suppress(OSError):
            self.read()

    @property
    def ended(self) -> bool:
        """The last line of a report is whole."""
        start = self._content.rfind(b"\n", 0, -1) + 1
        return self._content.endswith(b"\n") and self._content.startswith(b'{"end"', start)

    def text(self) -> str:
        return self._content.decode(errors="replace")


def _high(descriptor: int) -> int:
    """The same, with a number above those of the standard streams."""
    if descriptor > 2:
        return descriptor
    high: int = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return high
