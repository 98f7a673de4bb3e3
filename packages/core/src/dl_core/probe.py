"""Asks a vendor library what it is, in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

import diopi_proto
from diopi_proto.adaptor import read_adaptor
from diopi_proto.descriptor import VendorDescriptor
from diopi_proto.trial import Trial, TriedDevice, TriedKernels, try_library


@dataclass(frozen=True)
class Probe:
    """What one library answered."""

    abi: str = ""
    """``dl_vendor_v1``, or ``DIOPI`` for a library in DIOPI's own convention."""
    version: str = ""
    operators: int = 0
    """Operators of the contract that it has."""
    mismatched: list[str] = field(default_factory=list)
    """Operators that it has with another signature: they run on the CPU."""
    device_count: int = 0
    devices: list[TriedDevice] = field(default_factory=list)
    """Not more than can be visible."""
    extensions: list[str] = field(default_factory=list)
    """What it offers beyond its table."""
    kernels: TriedKernels | None = None
    """What compiles its kernels; None: it compiles none."""
    adapted: str = ""
    """What its adaptor file does; empty where it has none."""
    flaws: list[str] = field(default_factory=list)
    """Where it does not keep the contract, though it can be loaded: clauses about it."""
    error: str = ""
    """Why it could not be examined; empty if it could."""
    said: str = ""
    """The last that it logged before its devices were counted."""


def probe_vendor(descriptor: VendorDescriptor, timeout: float) -> Probe:
    """Try the library, whatever is remembered of it, and count its devices.

    :param timeout: seconds. A driver may hang, which must not hang the caller.
    """
    if not descriptor.library.is_file():
        return Probe(error=f"its library {descriptor.library} is not there.")
    try:
        adaptor = None if descriptor.adaptor is None else read_adaptor(descriptor.adaptor)
        trial = try_library(descriptor.library, legacy=descriptor.legacy, timeout=timeout)
    except diopi_proto.DiopiError as error:
        return Probe(error=str(error))
    if not trial.ok:
        hint = " DL_PROBE_TIMEOUT allows more." if trial.timed_out else ""
        return Probe(error=f"{trial.problem}.{hint}")
    return Probe(
        abi="DIOPI" if trial.legacy else "dl_vendor_v1",
        version=trial.version,
        operators=trial.bound,
        mismatched=trial.mismatched,
        device_count=trial.device_count,
        said=trial.said,
        devices=list(trial.devices),
        extensions=list(trial.extensions),
        kernels=trial.kernels,
        adapted="" if adaptor is None else adaptor.summary(),
        flaws=[*trial.flaws, *_misnamed(descriptor, trial)],
    )


def _misnamed(descriptor: VendorDescriptor, trial: Trial) -> list[str]:
    # A legacy library says who made it, which is not what its plugin calls it.
    if trial.legacy or trial.name == descriptor.name:
        return []
    return [f"its library calls itself {trial.name!r}, its plugin {descriptor.name!r}"]
