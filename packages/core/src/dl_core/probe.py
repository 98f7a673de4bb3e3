"""Examination of a vendor library in a child process."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import diopi_proto
from diopi_proto.adaptor import read_adaptor
from diopi_proto.descriptor import VendorDescriptor
from diopi_proto.named_libraries import missing_libraries
from diopi_proto.trial import Trial, TriedDevice, TriedKernels, try_library
from dl_core.environment import environment


@dataclass(frozen=True)
class Probe:
    """Results for one library."""

    abi: str = ""
    """``dl_vendor_v1``, or ``DIOPI`` for a library in DIOPI's own convention."""
    version: str = ""
    operators: int = 0
    """Number of contract operators that the library implements."""
    mismatched: list[str] = field(default_factory=list)
    """Operators that the library has with another signature; they run on the CPU."""
    device_count: int = 0
    devices: list[TriedDevice] = field(default_factory=list)
    """Number of devices, at most the maximum number of visible ones."""
    extensions: list[str] = field(default_factory=list)
    """Names of the extensions that the library implements."""
    kernels: TriedKernels | None = None
    """The library's kernel compiler; None if it does not compile kernels."""
    adapted: str = ""
    """Summary of the vendor's adaptor file; empty if it has none."""
    flaws: list[str] = field(default_factory=list)
    """Violations of the contract by a library that can be loaded, as clauses of a sentence."""
    error: str = ""
    """Reason why the library could not be examined; empty if it could."""
    said: str = ""
    """The last message that the library logged before its devices were counted."""
    unknown: list[str] = field(default_factory=list)
    """Operators that are not in this host's contract: of a later one, or misspelt."""
    missing_libraries: list[str] = field(default_factory=list)
    """Libraries that the library names and that are not installed, if it has no device and gives no
    reason."""


def probe_vendor(descriptor: VendorDescriptor, timeout: float) -> Probe:
    """Try the library, ignoring cached results, and count its devices.

    :param timeout: in seconds; a driver that hangs must not make the caller hang.
    """
    if not descriptor.library.is_file():
        return Probe(error=f"its library {descriptor.library} does not exist.")
    if descriptor.runtime is not None:
        return _probe_over_runtime(descriptor, descriptor.runtime, timeout)
    try:
        adaptor = None if descriptor.adaptor is None else read_adaptor(descriptor.adaptor)
        trial = try_library(descriptor.library, legacy=descriptor.legacy, timeout=timeout)
    except diopi_proto.DiopiError as error:
        return Probe(error=str(error))
    if not trial.ok:
        return _failed(trial)
    return Probe(
        abi="DIOPI" if trial.legacy else "dl_vendor_v1",
        version=trial.version,
        operators=trial.bound,
        mismatched=trial.mismatched,
        device_count=trial.device_count,
        said=trial.said,
        unknown=trial.unknown,
        missing_libraries=_missing_libraries(descriptor, trial),
        devices=list(trial.devices),
        extensions=list(trial.extensions),
        kernels=trial.kernels,
        adapted="" if adaptor is None else adaptor.summary(),
        flaws=[*trial.flaws, *_misnamed(descriptor, trial)],
    )


def _probe_over_runtime(descriptor: VendorDescriptor, runtime: Path, timeout: float) -> Probe:
    """Try a library in DIOPI's own style, and the runtime that has its devices."""
    try:
        base = try_library(runtime, timeout=timeout)
        trial = try_library(descriptor.library, legacy=True, timeout=timeout)
    except diopi_proto.DiopiError as error:
        return Probe(error=str(error))
    for tried in (base, trial):
        if not tried.ok:
            return _failed(tried)
    return Probe(
        abi="DIOPI, over a runtime",
        version=trial.version,
        operators=trial.bound,
        device_count=base.device_count,
        said=base.said,
        devices=list(base.devices),
        extensions=list(base.extensions),
        kernels=base.kernels,
        flaws=[f"its runtime {runtime.name}: {flaw}" for flaw in base.flaws],
    )


def _failed(trial: Trial) -> Probe:
    hint = " DL_PROBE_TIMEOUT allows more." if trial.timed_out else ""
    return Probe(error=f"{trial.problem}.{hint}")


def _missing_libraries(descriptor: VendorDescriptor, trial: Trial) -> list[str]:
    if trial.device_count or trial.said:
        return []
    return missing_libraries(descriptor.library, environment())


def _misnamed(descriptor: VendorDescriptor, trial: Trial) -> list[str]:
    # A legacy library contains its maker's name, which differs from the plugin's name.
    if trial.legacy or trial.name == descriptor.name:
        return []
    return [f"its library has the name {trial.name!r}, but its plugin {descriptor.name!r}"]
