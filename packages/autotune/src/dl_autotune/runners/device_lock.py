"""One tuner at a time on a device: two that measure side by side both measure nonsense."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..errors import TuningError


@contextlib.contextmanager
def device_lock(vendor: str, device: int) -> Iterator[None]:
    """Hold a device; the system lets go of it when the process ends, however it ends.

    :raises TuningError: another process holds it.
    """
    path = Path(tempfile.gettempdir()) / f"dl-autotune-{os.getuid()}-{vendor}-{device}.lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise TuningError(
                f"[tune] {vendor}:{device} is being tuned by process {holder} already: wait until"
                " it is done, or end it"
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
