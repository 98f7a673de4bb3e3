"""Runs of a program that are forks of one process. Imports no torch."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLongError
from pathlib import Path
from typing import Any

from dl_optools.bisect.python_program import PythonProgram
from dl_optools.launching.launch import TOOLS_VARIABLE, watch
from dl_optools.launching.lifetime import kill_all_of

_SERVER = "dl_optools.bisect.fork_server"
_PATIENCE = 300.0


class ForkError(RuntimeError):
    """Runs cannot be forks; the message says why."""


class ForkServer:
    """Forks a run of a program from a process that has torch imported; threads may share it.

    :param environ: of the process; what runs get besides is given with each.
    :param log: gets what the process says itself.
    :raises ForkError: it does not come up.
    """

    def __init__(self, program: PythonProgram, environ: Mapping[str, str], log: Path) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Future[dict[str, Any]]] = {}
        self._count = 0
        theirs_read, self._write = os.pipe()
        self._read, theirs_write = os.pipe()
        command = [
            *(*program.interpreter, "-m", _SERVER, str(theirs_read), str(theirs_write)),
            *(program.kind, program.what, *program.arguments),
        ]
        # Tools start in the forks.
        kept = {name: value for name, value in environ.items() if name != TOOLS_VARIABLE}
        self._environ = dict(environ)
        ready = self._expect("ready")
        with log.open("wb") as file:
            try:
                self._process = subprocess.Popen(
                    command,
                    env=kept,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    pass_fds=(theirs_read, theirs_write),
                )
            except OSError as error:
                raise ForkError(f"{command[0]}: {error.strerror or error}") from None
            finally:
                os.close(theirs_read)
                os.close(theirs_write)
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self._result(ready)
        except ForkError:
            self.close()
            raise

    def preload(self, modules: list[str]) -> None:
        """Import what the program's runs import.

        :raises ForkError: after that no fork is safe; the server has ended.
        """
        answer = self._expect("preloaded")
        self._send({"preload": modules})
        if unsafe := self._result(answer)["unsafe"]:
            self.close()
            raise ForkError(str(unsafe))

    def run(
        self,
        variables: Mapping[str, str],
        log: Path,
        timeout: float | None,
        is_stuck: Callable[[], bool] | None = None,
    ) -> int:
        """One run, to its end; its exit status, 128 + n after signal n.

        :param is_stuck: asked once in a while; the run is killed when it returns True.
        :raises subprocess.TimeoutExpired: it took longer or was stuck, and was killed.
        :raises ForkError: the server died.
        """
        with self._lock:
            self._count += 1
            number = self._count
        started, ended = self._expect(f"started {number}"), self._expect(f"ended {number}")
        environment = {**self._environ, **variables}
        self._send({"run": number, "environment": environment, "log": str(log)})
        process = int(self._result(started)["process"])
        try:
            return int(watch(ended.result, timeout, is_stuck, TooLongError)["status"])
        except TooLongError:
            kill_all_of(process)
            self._result(ended)
            raise subprocess.TimeoutExpired(str(log), timeout or 0.0) from None
        except BaseException:
            kill_all_of(process)
            raise

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError):
            os.close(self._write)
        self._process.wait()

    def _expect(self, what: str) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        with self._lock:
            self._waiting[what] = future
        return future

    def _result(self, answer: Future[dict[str, Any]]) -> dict[str, Any]:
        try:
            return answer.result(_PATIENCE)
        except TooLongError:
            self._process.kill()
            raise ForkError(f"the process that forks runs says nothing for {_PATIENCE} s") from None

    def _send(self, request: dict[str, Any]) -> None:
        line = json.dumps(request).encode() + b"\n"
        try:
            with self._lock:
                while line:
                    line = line[os.write(self._write, line) :]
        except OSError:
            raise ForkError("the process that forks runs has ended") from None

    def _listen(self) -> None:
        with os.fdopen(self._read, "rb") as answers:
            for line in answers:
                message = json.loads(line)
                key = next(iter(message))
                told = f"{key} {message[key]}" if key in ("started", "ended") else key
                with self._lock:
                    future = self._waiting.pop(told, None)
                if future is not None:
                    future.set_result(message)
        with self._lock:
            left, self._waiting = self._waiting, {}
        for future in left.values():
            future.set_exception(ForkError("the process that forks runs has ended"))
