"""What is tested: the library of a vendor's wheel, or any one in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from diopi_proto import Vendor, load_vendor
from diopi_proto.elf import read_elf
from diopi_proto.foreign_file import SETTINGS_BYTES, read_regular_text

KNOWN_FAILURES = "conformance-xfails.txt"


class TargetError(Exception):
    """There is no such vendor or library."""


@dataclass(frozen=True)
class Target:
    """A library.

    :ivar legacy: it exports DIOPI's operators by name and no table.
    :ivar runtime: a library whose functions it finds at run time, loaded before it.
    :ivar guarded: whether memory around its tensors is looked at after each call.
    :ivar adaptor: a file that says what is converted for its operators.
    :ivar simulated: environment variables with which its driver is a simulated one.
    """

    name: str
    library: str
    legacy: bool = False
    runtime: str | None = None
    guarded: bool = True
    adaptor: str | None = None
    simulated: dict[str, str] | None = None

    def load(self) -> Vendor:
        """Load it; the memory around its tensors is watched from then on."""
        os.environ.update(self.simulated or {})
        if self.runtime is not None:
            from cffi import FFI

            ffi = FFI()
            ffi.dlopen(self.runtime, ffi.RTLD_NOW | ffi.RTLD_GLOBAL)
        vendor = load_vendor(self.library, legacy=self.legacy, adaptor=self.adaptor)
        if self.guarded:
            vendor.guard_calls()
        return vendor

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def of_library(path: str, runtime: str | None = None) -> Target:
    """The library of a file.

    :raises TargetError: it is not there or no library.
    """
    library = Path(path).absolute()
    if not library.is_file():
        raise TargetError(f"--library {path}: there is no such file")
    if runtime is not None and not Path(runtime).is_file():
        raise TargetError(f"--runtime {runtime}: there is no such file")
    try:
        exported = read_elf(library).exported
    except Exception as error:
        raise TargetError(f"--library {path}: {error}") from error
    return Target(library.stem, str(library), "dl_vendor_v1" not in exported, runtime)


def of_vendor(name: str, simulate: bool = False) -> tuple[Target, Path | None]:
    """The library of an installed vendor, and its list of known failures where it has one.

    :param simulate: over a simulated driver.
    :raises TargetError: there is no such vendor, no simulator for it, or no dl-core to find it.
    """
    found = _vendors()
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise TargetError(f"--vendor {name}: there is no such vendor; installed are {known}")
    record, descriptor = found[name]
    package = record.module.partition(".")[0].partition(":")[0]
    known_failures = Path(str(files(package))) / KNOWN_FAILURES
    adaptor = None if descriptor.adaptor is None else str(descriptor.adaptor)
    target = Target(name, str(descriptor.library), descriptor.legacy, adaptor=adaptor)
    if simulate:
        target = replace(target, simulated=_simulated(name, descriptor.simulated))
    return target, known_failures if known_failures.is_file() else None


def _vendors() -> dict[str, tuple[Any, Any]]:
    """Record of the plugin and descriptor of each installed vendor, by its name."""
    try:
        from dl_core.manager import PluginManager
    except ImportError as error:
        raise TargetError(
            "--vendor finds vendors with dl-core, which is not installed; name its library with "
            "--library"
        ) from error
    manager = PluginManager()
    manager.load()
    return {descriptor.name: (record, descriptor) for record, descriptor in manager.vendors()}


def way_out(name: str | None, simulate: bool) -> str:
    """What may be done where a vendor has no device, to be put after the reason; may be nothing."""
    if name is None or simulate:
        return ""
    simulated = _vendors()[name][1].simulated
    if simulated is None:
        return ""
    try:
        simulated()
    except RuntimeError as error:
        return f"\n--simulate would run the cases over a simulated driver: {error}"
    return "\n--simulate runs the cases over the vendor's simulated driver, without a device"


def _simulated(name: str, simulated: Callable[[], Mapping[str, str]] | None) -> dict[str, str]:
    if simulated is None:
        raise TargetError(f"--simulate: vendor {name} has no simulated driver")
    try:
        return dict(simulated())
    except RuntimeError as error:
        raise TargetError(f"--simulate: vendor {name}: {error}") from error


def profile(name: str) -> dict[str, tuple[str, ...]]:
    """What the profile of a plugin promises: dtypes by operator.

    :raises TargetError: there is no such profile.
    """
    from dl_core.manager import PluginManager

    manager = PluginManager()
    manager.load()
    found = {x.name: x for _, x in manager.contributions("dl_conformance_profiles")}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise TargetError(f"--profile {name}: there is no such profile; installed are {known}")
    return {str(k): tuple(map(str, v)) for k, v in found[name].load().items()}


def read_known_failures(path: Path) -> frozenset[str]:
    """Names of cases, one a line; comments begin with ``#``.

    :raises TargetError: it cannot be read, or is no text.
    """
    try:
        text = read_regular_text(path, SETTINGS_BYTES, encoding="utf-8-sig")
    except OSError as error:
        raise TargetError(f"--known-failures {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TargetError(f"{path} is no list of known failures: {error}") from None
    lines = (line.strip() for line in text.splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))
