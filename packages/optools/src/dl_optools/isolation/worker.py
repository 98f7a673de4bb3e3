"""The parent's side: children that answer, and what is said where one ends. Imports no torch."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from diopi_proto.text import printable, write_error
from dl_optools.environment import environment
from dl_optools.isolation.answer import WRONG, Answer
from dl_optools.isolation.limits import Limits

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from dl_optools.isolation.child import main; main()"
)
_STARTING = 300.0
"""Seconds for importing torch and opening the device."""
_LONGEST = 1 << 26
"""Bytes of an answer."""
_MOST_SAID = 200
"""Lines that a child may write to standard error."""


class ChildError(Exception):
    """The child ended, or did not answer in time; the text says how."""


class UnusableError(Exception):
    """No child can answer: it does not start, or the device is not there."""


class _Child:
    """One process, from its start to its end."""

    def __init__(self, limits: Limits, setup: dict[str, Any]) -> None:
        self._limits = limits
        life, self._life = os.pipe()
        places = [str(Path(place).absolute()) for place in sys.path if place]
        setup = {**setup, "life": life, "memory": limits.memory, "seconds": limits.seconds}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START, json.dumps(places), json.dumps(setup)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(life,),
            # Each arena of malloc takes address space that nobody uses.
            env={"MALLOC_ARENA_MAX": "2", **environment()},
        )
        os.close(life)
        self._buffer = b""
        self._at = "it starts"
        self._said: deque[str] = deque(maxlen=5)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._listener = threading.Thread(
            target=self._pass_on, args=(self._process.stderr,), daemon=True
        )
        self._listener.start()

    def ready(self) -> str:
        """Wait until it has started; returns why it is of no use."""
        found = self._wait("ready", time.monotonic() + _STARTING, _STARTING)
        return found if isinstance(found, str) else ""

    def ask(self, question: dict[str, Any]) -> Answer:
        self._at = "it begins"
        try:
            self._stdin.write(json.dumps(question).encode() + b"\n")
            self._stdin.flush()
        except BrokenPipeError:
            raise ChildError(self._end()) from None
        seconds = self._limits.seconds
        found = self._wait("answer", time.monotonic() + seconds, seconds)
        try:
            return Answer.read(found)
        except ValueError as error:
            raise ChildError(f"it gives no answer: {error}, while {self._at}") from None

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._listener.join(5)
        for file in (self._stdin, self._stdout, self._process.stderr):
            if file is not None:
                with contextlib.suppress(BrokenPipeError):
                    file.close()
        os.close(self._life)

    def _wait(self, kind: str, deadline: float, seconds: float) -> Any:
        """The next message of that kind; what it says of its doings is noted."""
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                message = _message(line)
                if kind in message:
                    return message[kind]
                self._at = printable(str(message.get("at", self._at)))[:300]
                continue
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._stdout], [], [], left)[0]:
                raise ChildError(
                    f"it takes longer than {seconds:g} s (--timeout), while {self._at}"
                )
            data = os.read(self._stdout.fileno(), 1 << 16)
            if not data:
                raise ChildError(self._end())
            self._buffer += data
            if len(self._buffer) > _LONGEST:
                raise ChildError(f"it answers without an end, while {self._at}")

    def _end(self) -> str:
        """How the process ended, in words."""
        status = self._process.wait()
        self._listener.join(5)
        if status >= 0:
            last = f": {self._said[-1]}" if self._said else ""
            return f"it ended with exit status {status} while {self._at}{last}"
        number = -status
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        if number == signal.SIGXCPU:
            return f"it used up its processor time (--timeout), while {self._at}"
        return f"it crashed with {name} while {self._at}"

    def _pass_on(self, stream: IO[bytes]) -> None:
        """What the child says on standard error, so much of it as anybody reads."""
        for count, line in enumerate(stream):
            text = printable(line.decode(errors="replace").rstrip())[:2000]
            self._said.append(text)
            if count < _MOST_SAID:
                write_error(f"{text}\n")


def _message(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class Worker:
    """Answers questions in a child, which is replaced where it ends.

    :param device: that the works use; None: none. ``""``: the accelerator, or else the CPU.
    :param name: of the command, in errors.
    :param imports: modules that the works use, which are imported before the limits hold.
    :param writes: works may write files.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        device: str | None = None,
        name: str = "dl",
        imports: Sequence[str] = (),
        writes: bool = False,
    ) -> None:
        self.limits = limits
        self._setup = {"device": device, "name": name, "imports": [*imports], "writes": writes}
        self._child: _Child | None = None

    def ask(self, work: str, path: str, **arguments: Any) -> Answer:
        """Do the work on one bundle in the child. Its end is an answer, too.

        :raises UnusableError: there is no child that could.
        """
        if self._child is None:
            self._child = self._start()
        try:
            return self._child.ask({"work": work, "arguments": {"path": path, **arguments}})
        except ChildError as error:
            self.close()
            return Answer(lines=[f"{path}: {error}"], code=WRONG)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _start(self) -> _Child:
        child = _Child(self.limits, self._setup)
        try:
            problem = child.ready()
        except ChildError as error:
            problem = f"the process that is to read bundles is of no use: {error}"
        except BaseException:
            child.close()
            raise
        if problem:
            child.close()
            raise UnusableError(problem)
        return child
