"""Examination of an installation without torch: its parts, the selection with reasons, and defects.

Plugins and vendor libraries are tried in child processes, so that a crash or hang becomes a line of
the report.
"""

from __future__ import annotations

import difflib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from diopi_proto.descriptor import VendorDescriptor
from diopi_proto.schema import load
from diopi_proto.trial import TriedDevice, TriedKernels
from dl_core import first_party, frameworks, installed, selection, startup
from dl_core._version import __version__
from dl_core.doctor_added import AddedReport, examine_added
from dl_core.environment import environment
from dl_core.foreign_output import output_to_errors
from dl_core.plugin_record import PluginRecord
from dl_core.probe import Probe, probe_vendor


@dataclass(frozen=True)
class VendorReport:
    """One vendor: its wheel's declaration and its library's answers."""

    name: str
    plugin: str
    wheel: str
    version: str
    library: str
    priority: int
    accelerator: bool
    legacy: bool
    runtime: str | None
    """Library with the devices of a legacy library."""
    present: bool | None
    abi: str
    library_version: str
    operators: int
    mismatched: list[str]
    unknown: list[str]
    """Operators that are not in this host's contract, with the name that may be meant."""
    device_count: int
    no_device: str
    """Reason for the absence of devices, in the library's own words; may be empty."""
    missing_libraries: list[str]
    """Missing libraries that the vendor's library names, if it gives no reason."""
    devices: list[TriedDevice]
    extensions: list[str]
    kernels: TriedKernels | None
    libraries: dict[str, str]
    """Optional libraries: the path of each, or how to install it."""
    adaptor: str
    adapted: str
    flaws: list[str]
    error: str
    cure: str


@dataclass(frozen=True)
class VisibleDevice:
    """One device as torch sees it."""

    device: str
    vendor: str
    vendor_device: int
    name: str


@dataclass
class Report:
    """Results of ``dl doctor``. :meth:`as_json` is the output of ``--json``."""

    core: str
    location: str
    python: str
    torch: str | None
    compiled_for: str | None
    """Version of torch; None if the compiled part is missing or does not record it."""
    settings: dict[str, str]
    plugins: list[PluginRecord]
    vendors: list[VendorReport]
    added: list[AddedReport]
    """Operators that plugins add to vendors."""
    visible: list[VisibleDevice]
    reasons: list[str]
    missing: list[str] = field(default_factory=list)
    """Missing wheels, what they are for, and how to install them."""
    notes: list[str] = field(default_factory=list)
    """Installed frameworks that would use the CPU despite a dl device."""
    problems: list[str] = field(default_factory=list)

    @property
    def healthy(self) -> bool:
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "healthy": self.healthy}


def examine(environ: Mapping[str, str] | None = None) -> Report:
    """Examine this environment. Imports plugins after a child process has tried them, and starts
    one process per vendor.

    :param environ: the settings, by default those of the process.
    """
    environ = environment() if environ is None else environ
    torch = installed.torch_build()
    # Output of plugins is not part of the report.
    with output_to_errors():
        ready = startup.prepare(environ, torch, tries=True)
    presence = {candidate.name: candidate.present for candidate in ready.candidates}
    vendors = []
    for name, descriptor in ready.vendors.items():
        probe = probe_vendor(descriptor, ready.config.probe_timeout)
        record = ready.records[name]
        with output_to_errors():
            libraries = ready.manager.libraries(record, descriptor)
        vendors.append(_vendor_report(descriptor, record, presence[name], libraries, probe))
    counts = {v.name: v.device_count for v in vendors if not v.error}
    choice = selection.settle(ready.plan, counts)
    obstacle = startup.compiled_part_obstacle(torch) if torch is not None else None
    # The devices exist, but torch will not see any.
    devices = choice.devices if obstacle is None else ()
    names = {(v.name, d.index): d.name for v in vendors for d in v.devices}
    visible = [
        VisibleDevice(f"dl:{position}", name, index, names[name, index])
        for position, (name, index) in enumerate(devices)
    ]
    with output_to_errors():
        additions = [(a, ready.manager.present(a.record, a.added)) for a in ready.additions]
    added, flaws_of_added = examine_added(
        additions, ((each.device, each.vendor) for each in visible), ready.config.probe_timeout
    )
    return Report(
        core=__version__,
        location=str(Path(__file__).parent),
        python=platform.python_version(),
        torch=torch.version if torch is not None else None,
        compiled_for=installed.built_for() if installed.has_compiled_part() else None,
        settings=dict(ready.config.sources),
        plugins=ready.manager.records,
        vendors=vendors,
        added=added,
        visible=visible,
        reasons=[*ready.plan.reasons, *choice.reasons, *_autoload_off(environ, torch)],
        missing=_missing(torch, ready.vendors, ready.manager.records),
        notes=frameworks.notes() if devices else [],
        problems=[
            *ready.problems,
            *(text for text in ready.manager.problems if text not in ready.problems),
            *(f"vendor {v.name!r} of {v.wheel}: {v.error} {v.cure}" for v in vendors if v.error),
            *(_flaw(v, flaw) for v in vendors for flaw in v.flaws),
            *flaws_of_added,
            *choice.problems,
            *([obstacle] if obstacle else []),
            *ready.unread,
        ],
    )


def _vendor_report(
    descriptor: VendorDescriptor,
    record: PluginRecord,
    present: bool | None,
    libraries: dict[str, str],
    probe: Probe,
) -> VendorReport:
    return VendorReport(
        name=descriptor.name,
        plugin=record.name,
        wheel=record.wheel,
        version=descriptor.version,
        library=str(descriptor.library),
        priority=descriptor.priority,
        accelerator=descriptor.accelerator,
        legacy=descriptor.legacy,
        runtime=None if descriptor.runtime is None else str(descriptor.runtime),
        present=present,
        abi=probe.abi,
        library_version=probe.version,
        operators=probe.operators,
        mismatched=probe.mismatched,
        unknown=[_with_close_match(name) for name in probe.unknown],
        device_count=probe.device_count,
        no_device="" if probe.device_count else probe.said,
        missing_libraries=probe.missing_libraries,
        devices=probe.devices,
        extensions=probe.extensions,
        kernels=probe.kernels,
        libraries=libraries,
        adaptor="" if descriptor.adaptor is None else str(descriptor.adaptor),
        adapted=probe.adapted,
        flaws=probe.flaws,
        error=probe.error,
        cure=record.reinstall if probe.error else "",
    )


def _with_close_match(name: str) -> str:
    near = difflib.get_close_matches(name, load(), n=1, cutoff=0.9)
    return f"{name} (is it {near[0]}?)" if near else name


def _flaw(vendor: VendorReport, flaw: str) -> str:
    return (
        f"vendor {vendor.name!r} of {vendor.wheel} violates the vendor interface: {flaw}. Ask its "
        "maintainers for a fixed release (docs/vendor.md of dl-diopi-proto has the requirements); "
        f"DL_DISABLE={vendor.plugin} disables it."
    )


def _missing(
    torch: installed.TorchBuild | None,
    vendors: Mapping[str, VendorDescriptor],
    records: Sequence[PluginRecord],
) -> list[str]:
    found = []
    if torch is None:
        found.append("torch, which the dl device needs: `pip install dl-core[torch]`.")
    if not vendors:
        found.append(
            "a vendor, without which there is no device: `pip install dl-vendor-cpu` is the CPU "
            "reference; an accelerator's is a wheel of its maker."
        )
    wheels = first_party.not_installed(record.distribution for record in records)
    found += [
        f"{name}, {wheel.does} ({wheel.spelled}): `pip install {name}`."
        for name, wheel in wheels.items()
    ]
    return found


def _autoload_off(environ: Mapping[str, str], torch: installed.TorchBuild | None) -> list[str]:
    if torch is None or environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
        return []
    return [
        "TORCH_DEVICE_BACKEND_AUTOLOAD turns autoload off, so torch does not start the dl device. "
        "Unset it, or call dl_core.init()."
    ]
