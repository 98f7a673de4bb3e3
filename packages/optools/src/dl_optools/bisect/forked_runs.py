"""Runs of a program as forks of one process. Imports no torch."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from diopi_proto.worker import forks, kill_group
from diopi_proto.worker.forks import receive
from dl_optools.bisect.python_program import PythonProgram
from dl_optools.launching.launch import TOOLS_VARIABLE, watch

_SERVER = "dl_optools.bisect.fork_server"
_PATIENCE = 300.0
_ENDED = "the process that forks runs has ended"


class ForkError(RuntimeError):
    """Runs cannot be forked; the message says why."""


class ForkServer:
    """Forks runs of a program from a process that has imported torch; threads may share it.

    :param environ: environment of the process; variables of a single run are passed with it.
    :param log: file for the output of the process itself.
    :raises ForkError: the process does not start.
    """

    def __init__(self, program: PythonProgram, environ: Mapping[str, str], log: Path) -> None:
        command = [*program.interpreter, "-m", _SERVER, None, program.kind, program.what]
        # Tools start in the forks.
        kept = {name: value for name, value in environ.items() if name != TOOLS_VARIABLE}
        self._environ = dict(environ)
        with log.open("wb") as file:
            try:
                self._server = forks.ForkServer(
                    [*command, *program.arguments], env=kept, output=file
                )
            except OSError as error:
                raise ForkError(f"{command[0]}: {error.strerror or error}") from None
        try:
            self._ask({"ready": True})[1].close()
        except BaseException:
            self.close()
            raise

    def preload(self, modules: list[str]) -> None:
        """Import the modules that the program's runs import.

        :raises ForkError: no fork is safe after that; the server has ended.
        """
        unsafe, connection = self._ask({"preload": modules})
        connection.close()
        if unsafe:
            self.close()
            raise ForkError(unsafe)

    def run(
        self,
        variables: Mapping[str, str],
        log: Path,
        timeout: float | None,
        is_stuck: Callable[[], bool] | None = None,
    ) -> int:
        """Run the program to its end; return its exit status, 128 + n after signal n.

        :param is_stuck: polled; the run is killed when it returns True.
        :raises subprocess.TimeoutExpired: the run took too long or was stuck, and was killed.
        :raises ForkError: the server died.
        """
        environment = {**self._environ, **variables}
        process, run = self._ask({"run": True, "environment": environment, "log": str(log)})
        with run:
            wait = partial(receive, run)
            try:
                return int(watch(wait, timeout, is_stuck, TimeoutError))
            except TimeoutError:
                kill_group(process)
                wait(_PATIENCE)
                raise subprocess.TimeoutExpired(str(log), timeout or 0.0) from None
            except EOFError:
                raise ForkError(_ENDED) from None
            except BaseException:
                kill_group(process)
                raise

    def close(self) -> None:
        """End the server."""
        self._server.close()

    def _ask(self, request: dict[str, Any]) -> tuple[Any, Connection]:
        try:
            return self._server.ask(request, _PATIENCE)
        except TimeoutError:
            raise ForkError(f"the process that forks runs is silent for {_PATIENCE} s") from None
        except EOFError:
            raise ForkError(_ENDED) from None
