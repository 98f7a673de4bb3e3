"""The library under test: a file, or the library of an installed vendor."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from diopi_proto import Vendor, load_vendor
from diopi_proto.added import AddedLibrary
from diopi_proto.elf import read_elf
from diopi_proto.foreign_file import SETTINGS_BYTES, read_regular_text

KNOWN_FAILURES = "conformance-xfails.txt"


class TargetError(Exception):
    """A vendor, library or related file is missing or invalid."""


@dataclass(frozen=True)
class Target:
    """A library under test.

    :ivar legacy: the library exports DIOPI's operators by name instead of a vendor table.
    :ivar runtime: path of a second library. A legacy library computes on the devices of its vendor
        table; without a table, it provides functions that the library needs, and is loaded first.
    :ivar guarded: check the memory around tensors after each call.
    :ivar adaptor: path of an adaptor file with conversions for its operators.
    :ivar simulated: environment variables that select a simulated driver.
    :ivar status: restriction that the vendor states, such as ``"experimental"``.
    :ivar added: libraries whose operators are called before its own, in this order.
    """

    name: str
    library: str
    legacy: bool = False
    runtime: str | None = None
    guarded: bool = True
    adaptor: str | None = None
    simulated: dict[str, str] | None = None
    status: str = ""
    added: tuple[AddedLibrary, ...] = ()

    def load(self) -> Vendor:
        """Load the library, with guarded memory around its tensors if ``guarded``."""
        os.environ.update(self.simulated or {})
        base = self.runtime if self.runtime is not None and _has_table(self.runtime) else None
        if self.runtime is not None and base is None:
            from cffi import FFI

            ffi = FFI()
            ffi.dlopen(self.runtime, ffi.RTLD_NOW | ffi.RTLD_GLOBAL)
        vendor = load_vendor(
            self.library,
            legacy=self.legacy,
            adaptor=self.adaptor,
            runtime=base,
            added=[AddedLibrary(*each) for each in self.added],
        )
        if self.guarded:
            vendor.guard_calls()
        return vendor

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as data; without ``added`` if there is none."""
        fields = asdict(self)
        added = [list(each) for each in fields.pop("added")]
        return {**fields, "added": added} if added else fields


def of_library(path: str, runtime: str | None = None) -> Target:
    """Return the target for a library file.

    :raises TargetError: the file does not exist or is not a library.
    """
    library = Path(path).absolute()
    if not library.is_file():
        raise TargetError(f"--library {path}: no such file")
    if runtime is not None and not Path(runtime).is_file():
        raise TargetError(f"--runtime {runtime}: no such file")
    try:
        legacy = not _has_table(library)
    except Exception as error:
        raise TargetError(f"--library {path}: {error}") from error
    try:
        over_table = runtime is not None and _has_table(runtime)
    except Exception as error:
        raise TargetError(f"--runtime {runtime}: {error}") from error
    if over_table and not legacy:
        raise TargetError(
            f"--runtime {runtime} has a vendor table, and so has --library {path}, which is its "
            "own runtime; leave --runtime out"
        )
    return Target(library.stem, str(library), legacy, runtime)


def _has_table(library: str | Path) -> bool:
    """Return True if a library exports a vendor table."""
    return "dl_vendor_v1" in read_elf(Path(library)).exported


def of_vendor(
    name: str, simulate: bool = False, *, own_operators: bool = False
) -> tuple[Target, Path | None]:
    """Return the library of an installed vendor, and the path of its list of known failures or
    None.

    :param simulate: use the vendor's simulated driver.
    :param own_operators: leave out operators that other wheels add.
    :raises TargetError: the vendor is not installed, it has no simulator, or dl-core is missing.
    """
    found = _vendors()
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise TargetError(f"--vendor {name}: no such vendor; installed: {known}")
    record, descriptor = found[name]
    package = record.module.partition(".")[0].partition(":")[0]
    known_failures = Path(str(files(package))) / KNOWN_FAILURES
    adaptor = None if descriptor.adaptor is None else str(descriptor.adaptor)
    runtime = None if descriptor.runtime is None else str(descriptor.runtime)
    target = Target(
        name,
        str(descriptor.library),
        descriptor.legacy,
        runtime,
        adaptor=adaptor,
        # Descriptors of wheels for another release of the contract have no status.
        status=getattr(descriptor, "status", ""),
    )
    if not own_operators:
        target = replace(target, added=_added_to(name))
    if simulate:
        target = replace(target, simulated=_simulated(name, descriptor.simulated))
    return target, known_failures if known_failures.is_file() else None


def _vendors() -> dict[str, tuple[Any, Any]]:
    """Return the plugin record and descriptor of each installed vendor by name."""
    try:
        from dl_core.manager import PluginManager
    except ImportError as error:
        raise TargetError(
            "--vendor needs dl-core, which is not installed; name the vendor's library with "
            "--library"
        ) from error
    manager = PluginManager()
    manager.load()
    return {descriptor.name: (record, descriptor) for record, descriptor in manager.vendors()}


def _added_to(vendor: str) -> tuple[AddedLibrary, ...]:
    """Return the libraries with operators for a vendor that torch would use too."""
    from dl_core import added
    from dl_core.config import read
    from dl_core.manager import PluginManager

    if not read(os.environ).operators:
        return ()
    manager = PluginManager.of_environment()
    manager.load()
    additions, _ = added.collect(manager, [vendor])
    return tuple(each.library for each in added.usable(manager, additions))


def way_out(name: str | None, simulate: bool) -> str:
    """Return advice to append to the reason why a vendor has no device; may be empty."""
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
    """Return the dtypes by operator that the profile of a plugin promises.

    :raises TargetError: the profile is unknown.
    """
    from dl_core.manager import PluginManager

    manager = PluginManager()
    manager.load()
    found = {x.name: x for _, x in manager.contributions("dl_conformance_profiles")}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise TargetError(f"--profile {name}: no such profile; installed: {known}")
    return {str(k): tuple(map(str, v)) for k, v in found[name].load().items()}


def read_known_failures(path: Path) -> frozenset[str]:
    """Read names of cases, one per line; comments begin with ``#``.

    :raises TargetError: the file cannot be read, or is not text.
    """
    try:
        text = read_regular_text(path, SETTINGS_BYTES, encoding="utf-8-sig")
    except OSError as error:
        raise TargetError(f"--known-failures {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TargetError(f"{path} is not a list of known failures: {error}") from None
    lines = (line.strip() for line in text.splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))
