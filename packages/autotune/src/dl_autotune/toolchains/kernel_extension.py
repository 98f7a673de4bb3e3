"""Toolchain of the contract's kernel extension: C++ on the CPU, or the vendor's language."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from diopi_proto import Vendor, VendorDescriptor, VendorError, load_vendor
from diopi_proto.host import Tensor
from dl_core.simulation import is_simulated, mark_simulated

from ..errors import TuningError
from ..kernel import Launch
from .toolchain import Array, CompileError, Launcher

_GUARD = 4096
"""Number of guard elements before and after an array, enough to detect an additional row."""


class DeviceBuffer:
    """Array between guard bands with a pattern that kernels do not write by chance."""

    def __init__(self, vendor: Vendor, array: Array) -> None:
        self._around = np.frombuffer(
            np.random.default_rng(7).bytes(_GUARD * array.itemsize), dtype=np.uint8
        )
        flat = np.concatenate([self._around, _bytes(array), self._around])
        self._memory = vendor.tensor(flat.view(array.dtype))
        strides = [s // array.itemsize for s in np.ascontiguousarray(array).strides]
        self.tensor: Tensor = self._memory.as_strided(array.shape, strides, _GUARD)

    def read(self) -> Array:
        """Return a copy of the content."""
        return np.asarray(self.tensor.numpy())

    def intact(self) -> bool:
        """Return True if the guard bands are unchanged."""
        there = _bytes(np.asarray(self._memory.numpy()))
        size = len(self._around)
        return bool((there[:size] == self._around).all() and (there[-size:] == self._around).all())


def _bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


class KernelExtension:
    """Compiler and launcher for one device of a vendor.

    :param vendor: name of an installed vendor, which dl-core finds.
    :raises TuningError: there is no such vendor or device, or the vendor cannot compile.
    """

    def __init__(self, vendor: str, device: int = 0) -> None:
        self.name, self.device = vendor, device
        described = descriptor_of(vendor)
        self._release = described.version
        self._simulated = is_simulated(described)
        self._vendor = load_vendor(described.library)
        if "kernel" not in self._vendor.extensions:
            raise TuningError(f"[tune] vendor {vendor} has no kernel extension to run kernels")
        if device >= self._vendor.device_count:
            raise TuningError(
                f"[tune] vendor {vendor} has no device {device}; number of devices:"
                f" {self._vendor.device_count}"
            )
        self._properties = self._vendor.kernels.properties(device)
        if self._properties.unavailable:
            raise TuningError(f"[tune] {vendor} cannot compile: {self._properties.unavailable}")

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages that the device compiles."""
        return self._properties.languages

    def identity(self) -> Mapping[str, str]:
        """Return vendor, device, architecture and compiler. A simulated device is marked, so that
        its studies are never those of a real device.
        """
        device = self._vendor.properties(self.device).name
        return {
            "vendor": f"{self.name} {self._release}",
            "device": mark_simulated(device) if self._simulated else device,
            "architecture": self._properties.architecture,
            "compiler": _with_version(self._properties.compiler),
        }

    def compile(self, source: str, name: str, options: Sequence[str], seconds: float) -> bytes:
        """Compile for the device.

        :raises CompileError: it does not compile, or takes longer than `seconds`.
        """
        try:
            return self._vendor.kernels.compile(
                source, device=self.device, name=name, options=options, seconds=seconds
            ).bytes
        except VendorError as error:
            raise CompileError(getattr(error, "details", "") or str(error)) from error

    def load(self, code: bytes, function: str) -> Launcher:
        """Return a launcher for the function in compiled code."""
        found = self._vendor.kernels.load(code, self.device).function(function)

        def launch(how: Launch, arguments: Sequence[Any]) -> None:
            given = [a.tensor if isinstance(a, DeviceBuffer) else a for a in arguments]
            found(*given, grid=how.grid, block=how.block, shared_bytes=how.shared_bytes)

        return launch

    def buffer(self, array: Array) -> DeviceBuffer:
        """Put an array onto the device, between guard bands."""
        return DeviceBuffer(self._vendor, array)


def descriptor_of(vendor: str) -> VendorDescriptor:
    """Return the descriptor of an installed vendor.

    :raises TuningError: no vendor has this name.
    """
    from dl_core.manager import PluginManager

    manager = PluginManager()
    manager.load()
    found = {descriptor.name: descriptor for _, descriptor in manager.vendors()}
    if vendor not in found:
        known = ", ".join(sorted(found)) or "none"
        raise TuningError(f"[tune] unknown vendor {vendor}; the installed vendors are {known}")
    return found[vendor]


def _with_version(compiler: str) -> str:
    """Return the compiler with the first line of its version, if it is a program."""
    if not os.access(compiler, os.X_OK):
        return compiler
    done = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, timeout=30, check=False
    )
    return f"{compiler}: {done.stdout.partition(chr(10))[0]}"
