"""A PostgreSQL server on the loopback device, from Debian's package."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from diopi_proto.worker import below
from dl_autotune.location import Address

PASSWORD = "s3cret/p@ss"
QUOTED = "s3cret%2Fp%40ss"


def programs() -> Path | None:
    """Return the newest folder of Debian's packages that has the programs of a server."""
    found = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max(
        (each.parent for each in found), key=lambda each: int(each.parent.name), default=None
    )


class PostgresqlServer:
    """A server with one role, "tuner", and the database "postgres"; it refuses to run as root."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.data, self._programs = folder / "data", programs
        self._user: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._user = dict(user="postgres", group="postgres", extra_groups=[])
            shutil.chown(folder, "postgres", "postgres")
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._log = folder / "log"
        self._call(
            *("initdb", "-D", self.data, "-U", "tuner", "-N", "--locale=C", "--encoding=UTF8"),
            *("--auth=scram-sha-256", f"--pwfile={secret}"),
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]

    def _call(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        # pg_ctl passes its output to the server, so that a pipe would stay open.
        with (self._log.parent / "output").open("w+") as output:
            done = subprocess.run(
                command,
                cwd=self._log.parent,
                stdout=output,
                stderr=output,
                check=False,
                **self._user,
            )
            output.seek(0)
            assert done.returncode == 0, output.read()

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port}"
        options += " -c unix_socket_directories='' -c shared_buffers=16MB"
        self._call(
            "pg_ctl", "start", "-w", "-t", "120", "-D", self.data, "-l", self._log, "-o", options
        )

    def kill(self) -> None:
        """Kill all processes with SIGKILL, and wait for their end."""
        main = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        ends = []
        for pid in (main, *(each.pid for each in below(main))):
            with contextlib.suppress(ProcessLookupError):
                ends.append(os.pidfd_open(pid))
        for end in ends:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(end, signal.SIGKILL)
        for end in ends:
            assert select.select([end], [], [], 60)[0] == [end]
            os.close(end)
        # If init does not reap orphans, the server would take its zombie for a running server.
        (self.data / "postmaster.pid").unlink()

    def stop(self) -> None:
        """Stop it, if it runs."""
        if (self.data / "postmaster.pid").exists():
            self._call("pg_ctl", "stop", "-m", "immediate", "-D", self.data)

    def address(self, name: str = "postgres", user: str = f"tuner:{QUOTED}") -> Address:
        """Return an address of a database."""
        return Address(f"postgresql://{user}@127.0.0.1:{self.port}/{name}")


def run_server() -> Iterator[PostgresqlServer]:
    """Yield a running server; skip the test if a program or the driver is missing."""
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'dl-autotune[postgresql]'")
    found = programs()
    if found is None:
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql")
    # Another user cannot reach pytest's folders.
    with tempfile.TemporaryDirectory(prefix="dl-postgresql-") as folder:
        server = PostgresqlServer(Path(folder), found)
        server.start()
        try:
            yield server
        finally:
            server.stop()
