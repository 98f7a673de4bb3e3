"""Starts runs of one program: as forks where that is safe, otherwise as separate processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dl_optools.bisect.forked_runs import ForkError, ForkServer
from dl_optools.bisect.python_program import parse_command
from dl_optools.launching.launch import run_program


class Starter:
    """Starts runs; threads may share it.

    Runs of a Python program are forks of one process, which has imported torch and, after
    :meth:`preload`, the modules of installed packages that the program imports.

    :param environ: environment of every run.
    :param timeout: seconds after which a run is killed; None: never.
    :param fork: False: never fork.
    :param say: receives a line with the reason if runs cannot be forked.
    """

    def __init__(
        self,
        command: Sequence[str],
        environ: Mapping[str, str],
        timeout: float | None,
        *,
        fork: bool = True,
        say: Callable[[str], object] = lambda text: None,
    ) -> None:
        self._command = list(command)
        self._environ = dict(environ)
        self._timeout = timeout
        self._program = parse_command(command) if fork else None
        self._server: ForkServer | None = None
        self._lock = threading.Lock()
        self._say = say

    def start(
        self,
        variables: Mapping[str, str],
        log: Path,
        is_stuck: Callable[[], bool] | None = None,
    ) -> int:
        """Run the program to its end; return its exit status, 128 + n after signal n.

        :param variables: environment variables of this run only.
        :param log: file for its output.
        :param is_stuck: polled; the run is killed when it returns True.
        :raises OSError: the program does not exist, or its log cannot be written.
        :raises subprocess.TimeoutExpired: it took too long, or was stuck.
        """
        try:
            server = self._forking(log)
            if server is not None:
                return server.run(variables, log, self._timeout, is_stuck)
        except ForkError as error:
            self._without_forks(str(error))
        with log.open("wb") as file:
            environ = {**self._environ, **variables}
            return run_program(self._command, environ, file, self._timeout, is_stuck)

    def preload(self, modules: list[str], log: Path) -> None:
        """Import the modules that runs import; if that is unsafe, only torch's own."""
        of_torch = [name for name in modules if name.partition(".")[0] == "torch"]
        reason = ""
        for names in (modules, of_torch):
            try:
                server = self._forking(log)
                if server is not None:
                    server.preload(names)
                return
            except ForkError as error:
                reason = str(error)
                with self._lock:
                    self._server = None
        self._without_forks(reason)

    def close(self) -> None:
        """End the forking process; a later run starts a new one."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _forking(self, log: Path) -> ForkServer | None:
        with self._lock:
            if self._server is None and self._program is not None:
                path = log.with_name("fork_server.log")
                self._server = ForkServer(self._program, self._environ, path)
            return self._server

    def _without_forks(self, reason: str) -> None:
        with self._lock:
            known, self._program, self._server = self._program, None, None
        if known is not None:
            self._say(f"each run is a process of its own, because {reason}\n")
