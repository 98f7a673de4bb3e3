"""Start of the device, up to the point at which torch is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dl_core import added, installed, selection
from dl_core import config as configuration
from dl_core.manager import PluginManager
from dl_core.plugin_record import PluginRecord
from dl_core.unread_variables import describe_unread

if TYPE_CHECKING:
    from diopi_proto.descriptor import VendorDescriptor

COUNTS_FOLDER = "DL_COVERAGE_FOLDER"
"""Variable with which ``dl coverage --program`` has processes write their counts to a folder."""


class Preparation(NamedTuple):
    """Results of the steps before a vendor library is loaded."""

    config: configuration.Config
    manager: PluginManager
    vendors: Mapping[str, VendorDescriptor]
    records: Mapping[str, PluginRecord]
    """The plugin of each vendor."""
    candidates: Sequence[selection.Candidate]
    plan: selection.Plan
    problems: Sequence[str]
    """Sentences for the user, about settings, plugins and the plan."""
    unread: Sequence[str]
    """Sentences about variables that nothing reads."""
    additions: Sequence[added.Addition] = ()
    """Operators that plugins add to vendors, in the order in which they are called."""


class Outcome(NamedTuple):
    """Result of starting the device."""

    active: bool
    """True if the ``dl`` device is registered."""
    reasons: Sequence[str]
    problems: Sequence[str]
    unread: Sequence[str] = ()
    """Sentences about variables that nothing reads."""
    absence: str = ""
    """Message for programs that request the device, if vendors are installed but none has a device.
    torch's own error lists device types without ``dl``; see :mod:`dl_core.absence`."""


def prepare(
    environ: Mapping[str, str], torch: installed.TorchBuild | None, *, tries: bool = False
) -> Preparation:
    """Read the settings, import the plugins, collect the vendors and plan. Loads no library.

    :param tries: try all plugins in a child process first, and ignore those that hang or crash.
    """
    config = configuration.read(environ)
    failing: Mapping[str, str] = {}
    if tries:
        from dl_core.plugin_trial import troublemakers

        failing = troublemakers(config.disable, config.probe_timeout)
    manager = PluginManager(config.disable, config.probe_timeout, failing=failing, strict=tries)
    manager.load()
    candidates = []
    vendors = {}
    records = {}
    for record, descriptor in manager.vendors():
        present = manager.present(record, descriptor)
        vendors[descriptor.name] = descriptor
        records[descriptor.name] = record
        candidates.append(
            selection.Candidate(
                descriptor.name, descriptor.priority, descriptor.accelerator, present
            )
        )
    additions: list[added.Addition] = []
    lost: list[str] = []
    if config.operators:
        additions, lost = added.collect(manager, vendors)
    gpu = installed.torch_gpu(torch, environ) if torch is not None else None
    plan = selection.plan(candidates, config.vendors, gpu)
    problems = [*config.problems, *manager.problems, *lost, *plan.problems]
    plugins = [*(record.name for record in manager.records), *vendors]
    unread = describe_unread(environ, plugins)
    return Preparation(
        config, manager, vendors, records, candidates, plan, problems, unread, additions
    )


def start(environ: Mapping[str, str]) -> Outcome:
    """Register the device if a planned vendor has one. torch has been or is about to be
    imported."""
    torch = installed.torch_build()
    ready = prepare(environ, torch)
    if not ready.plan.order:
        absence = _absence(ready, ready.plan.reasons)
        return Outcome(False, ready.plan.reasons, ready.problems, ready.unread, absence)
    obstacle = compiled_part_obstacle(torch)
    if obstacle is not None:
        return Outcome(False, ready.plan.reasons, [*ready.problems, obstacle], ready.unread)
    from dl_core.torch_backend import registration

    done = registration.register(
        ready.plan,
        ready.vendors,
        ready.records,
        ready.config,
        lambda vendor: added.usable(
            ready.manager, [each for each in ready.additions if each.added.vendor == vendor]
        ),
    )
    if done.active:
        from dl_core.torch_backend import tuning

        tuning.begin(ready.manager, done.loaded, wanted=ready.config.tuning)
        if folder := environ.get(COUNTS_FOLDER):
            from dl_core import program_counts

            program_counts.begin(folder)
    reasons = [*ready.plan.reasons, *done.reasons]
    absence = "" if done.active or done.problems else _absence(ready, reasons)
    problems = [*ready.problems, *done.problems]
    return Outcome(done.active, reasons, problems, ready.unread, absence)


def _absence(ready: Preparation, reasons: Sequence[str]) -> str:
    """Return a message that the device is missing, and why; empty if that is expected or already
    known."""
    surprising = ready.candidates and ready.config.vendors is None and not ready.plan.torch_first
    if not surprising or ready.problems:
        return ""
    return (
        f"no dl device is available, so torch rejects device='dl'. {' '.join(reasons)} "
        "Run `dl doctor` for details."
    )


def compiled_part_obstacle(torch: installed.TorchBuild | None) -> str | None:
    """Return why ``dl_core._C`` cannot be used with this torch; None if it can."""
    if not installed.has_compiled_part():
        return (
            "dl-core runs from a source tree without its compiled part, so the dl device stays "
            "off. Build it: `pip install --no-build-isolation -e .` in dl-core's folder."
        )
    built = installed.built_for()
    if built is None or torch is None:
        return None
    return installed.mismatch(torch.version, built)
