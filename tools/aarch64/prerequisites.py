"""Programs and permissions that the session needs, and what to install if they are missing."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence

from .errors import SessionError

PROGRAMS = {
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64-static": "qemu-user-static",
    "mmdebstrap": "mmdebstrap",
}
"""Debian packages of the programs, by program."""
AS_ROOT = ("--mount", "--pid", "--fork", "--mount-proc", "--kill-child")
"""Options of unshare(1). Mounts and processes end with this process, however it ends."""
AS_USER = ("--user", "--map-root-user", "--map-auto", *AS_ROOT)


def missing(find: Callable[[str], str | None] = shutil.which) -> list[str]:
    """Return the programs that are missing."""
    return [program for program in PROGRAMS if find(program) is None]


def installation(programs: Sequence[str]) -> str:
    """Return the sentence that says what to install."""
    packages = " ".join(PROGRAMS[program] for program in programs)
    names = programs[0] if len(programs) == 1 else f"{', '.join(programs[:-1])} and {programs[-1]}"
    return f"[aarch64] {names} not found: run `apt-get install {packages}` and try again"


def check(machine: str | None = None) -> None:
    """Check the machine and its programs.

    :param machine: kind of processor; None: that of this machine.
    :raises SessionError: something is missing; the message is one sentence that says what to do.
    """
    found = machine or platform.machine()
    if found == "aarch64":
        raise SessionError(
            "[aarch64] this machine is aarch64 itself and needs no emulation: "
            "run `tools/nox -s tests`"
        )
    if found != "x86_64":
        raise SessionError(
            f"[aarch64] this machine is {found}: the session runs on x86_64 with Debian"
        )
    if programs := missing():
        raise SessionError(installation(programs))


def namespaces() -> tuple[str, ...]:
    """Return the command that runs its arguments with mounts and processes of their own.

    :raises SessionError: neither root nor user namespaces are available.
    """
    options = AS_ROOT if os.geteuid() == 0 else AS_USER
    command = ("unshare", *options)
    done = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SessionError(
            f"[aarch64] `{' '.join(command)}` failed ({done.stderr.strip()}): run the session as "
            "root, or allow user namespaces and install uidmap"
        )
    return command
