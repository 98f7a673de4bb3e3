"""The device on which kernels run: the host, or a device whose vendor compiles kernels."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from dl_autotune import TuningError
from dl_autotune.toolchains.kernel_extension import KernelExtension

from .device_source import LANGUAGES
from .errors import MskppError

_HOST = "cpu"


@dataclass(frozen=True)
class Target:
    """A device.

    :ivar vendor: the first vendor of ``DL_VENDORS``. For ``cpu``, which is also the default, build
        scripts compile kernels for the host; for another one, its kernel extension does.
    """

    vendor: str = _HOST
    device: int = 0

    @property
    def is_host(self) -> bool:
        """Return True if kernels are libraries for the host."""
        return self.vendor == _HOST

    def __str__(self) -> str:
        return f"{self.vendor}:{self.device}"


def target(device: int = 0) -> Target:
    """Return the device of this number.

    :raises MskppError: it does not exist, or cannot compile kernels.
    """
    named = os.environ.get("DL_VENDORS", "").partition(",")[0].strip() or _HOST
    if isinstance(device, bool) or not isinstance(device, int) or device < 0:
        raise MskppError(f"[mskpp] device {device!r} is not the number of a device")
    found = Target(named, device)
    if found.is_host:
        if device != 0:
            raise MskppError(f"[mskpp] device {device}: dl:cpu has device 0")
    else:
        language_of(found)
    return found


@cache
def toolchain(on: Target) -> KernelExtension:
    """Return the compiler and launcher of a device.

    :raises MskppError: there is no such device, or it cannot compile.
    """
    try:
        return KernelExtension(on.vendor, on.device)
    except TuningError as error:
        raise MskppError(f"[mskpp] {on} cannot run kernels: {error}") from error


def language_of(on: Target) -> str:
    """Return the language in which a device compiles kernels.

    :raises MskppError: there is no such device, or it compiles another language.
    """
    languages = toolchain(on).languages
    found = next((each for each in languages if each in LANGUAGES), None)
    if found is None:
        raise MskppError(
            f"[mskpp] {on} compiles kernels in {', '.join(languages) or 'no language'}; supported"
            f" are {', '.join(LANGUAGES)}"
        )
    return found


def describe(on: Target) -> str:
    """Return the name of a device, which tells a simulated device from a real one."""
    return f"{on}, {toolchain(on).identity()['device']}" if not on.is_host else str(on)
