"""Registration of qemu with the kernel, so that programs for aarch64 run like native ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .errors import SessionError

BINFMT = Path("/proc/sys/fs/binfmt_misc")
ENTRY = "qemu-aarch64"
FORMAT = Path("/usr/lib/binfmt.d") / f"{ENTRY}.conf"
"""Description of the format, from Debian's qemu-user-static. It keeps the interpreter open, so that
the root filesystem needs no copy of it."""


def commands() -> str:
    """Return the commands that register the format, for a user who has to do it."""
    return f"mount -t binfmt_misc binfmt_misc {BINFMT}; cat {FORMAT} > {BINFMT}/register"


def register() -> None:
    """Register the format, unless it is registered already.

    The mount is this process's own. Linux 6.7 and newer forget the format with the last mount, so
    that it ends with the last session; older ones keep it.

    :raises SessionError: this process may not do that; the message has the commands.
    """
    if not (BINFMT / "register").exists():
        mount = ["mount", "-t", "binfmt_misc", "binfmt_misc", str(BINFMT)]
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SessionError(_refusal(done.stderr.strip()))
    if (BINFMT / ENTRY).exists():
        return
    try:
        (BINFMT / "register").write_bytes(FORMAT.read_bytes())
    except OSError as error:
        raise SessionError(_refusal(str(error))) from error


def _refusal(reason: str) -> str:
    return (
        f"[aarch64] the kernel does not run programs for aarch64, and this process may not "
        f"register qemu ({reason}): run as root `{commands()}`"
    )
