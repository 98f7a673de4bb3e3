"""Registration of ``dl`` with torch: compiled part, vendors, device name, module,
methods, patches."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils import backend_registration

import diopi_proto
from diopi_proto.trial import admitted
from dl_core import installed, selection
from dl_core.torch_backend import DEVICE, adaptors

if TYPE_CHECKING:
    from diopi_proto.descriptor import VendorDescriptor
    from dl_core.added import Addition
    from dl_core.config import Config
    from dl_core.plugin_record import PluginRecord

_UNNAMED = "privateuseone"
_IN_HOST_MEMORY = "it is a library in DIOPI's own style without a runtime"
_NEEDS_RUNTIME = "Load it over one (docs/legacy.md of dl-diopi-proto)."
_AUTOGRAD_GRACE = 0.01
"""Timeout in seconds; a thread that waits for the GIL needs microseconds."""


class Registration(NamedTuple):
    """Result of :func:`register`."""

    active: bool
    reasons: Sequence[str]
    problems: Sequence[str]
    loaded: Mapping[str, int] = MappingProxyType({})
    """Vendors with visible devices, and their indices in the compiled part."""


def register(
    plan: selection.Plan,
    vendors: Mapping[str, VendorDescriptor],
    records: Mapping[str, PluginRecord],
    config: Config,
    additions_of: Callable[[str], Sequence[Addition]] = lambda vendor: (),
) -> Registration:
    """Load the planned vendors and, if one has a device, register ``dl`` with torch.

    Without a device, torch is left unchanged: a renamed device type would become the current
    accelerator although it has no devices.

    :param additions_of: function that returns the operators that plugins add to a vendor.
    """
    taken = torch._C._get_privateuse1_backend_name()
    if taken != _UNNAMED:
        return _reject(
            f"torch supports one out-of-tree device type, and {taken!r} has taken it. "
            f"Uninstall one of the two backends, or set TORCH_DEVICE_BACKEND_AUTOLOAD=0 and start "
            f"the wanted one by hand (`dl_core.init()`)."
        )
    try:
        from dl_core import _C
    except ImportError as error:
        return _reject(
            f"its compiled part does not load into torch {torch.__version__}: {error}. Install the "
            f"dl-core that was built for this torch: `pip install --force-reinstall dl-core`."
        )
    wrong = installed.mismatch(str(torch.__version__), _C.TORCH_VERSION)
    if wrong is not None:
        return _reject(wrong)

    counts: dict[str, int] = {}
    indices: dict[str, int] = {}
    problems: list[str] = []
    for name in plan.order:
        vendor = vendors[name]
        try:
            info, untried, lost = _load(name, vendor, config, additions_of(name))
        except Exception as error:  # noqa: BLE001 - one broken vendor must not stop other vendors
            problems.append(_format_broken(records[name], name, error))
            continue
        if untried:
            problems.append(_format_untried(records[name], name, untried))
        problems += lost
        counts[name], indices[name] = info["device_count"], info["index"]
        if plan.first_only and counts[name] > 0:
            break
    choice = selection.settle(plan, counts)
    problems += choice.problems
    if choice.devices:
        if config.memory_check:
            from dl_core.torch_backend import memory_debug

            memory_debug.start_check(config.memory_check, config.memory_check_stacks)
        _C.set_visible_devices([(indices[name], local) for name, local in choice.devices])
        _C.activate()
        problems += _attach(config)
    loaded = {name: indices[name] for name, _ in choice.devices}
    return Registration(bool(choice.devices), choice.reasons, problems, loaded)


def _load(
    name: str, vendor: VendorDescriptor, config: Config, additions: Sequence[Addition]
) -> tuple[dict[str, Any], str, list[str]]:
    """Load the libraries of a vendor, and those that add operators to it.

    :returns: facts about the vendor, why its library was loaded without a trial, which may be
        empty, and sentences about operators that are not added.
    """
    from dl_core import _C

    libraries = [(vendor.library, vendor.legacy)]
    if vendor.runtime is not None:
        libraries.insert(0, (vendor.runtime, False))
    with ExitStack() as admissions:
        untried = [
            admissions.enter_context(admitted(path, legacy=legacy, timeout=config.probe_timeout))
            for path, legacy in libraries
        ]
        reason = next(filter(None, untried), "")
        if vendor.runtime is not None:
            layer = adaptors.legacy_address(name, vendor.library)
        else:
            layer = adaptors.adaptor_address(name, vendor.adaptor)
        over_table = vendor.runtime is not None or not vendor.legacy
        if not over_table:
            _C.set_legacy_runtime(str(diopi_proto.runtime_library()))
        lost: list[str] = []
        if additions:
            from dl_core.torch_backend import added  # rarely needed

            if over_table:
                additions, lost = added.admit(admissions, additions, config.probe_timeout)
                if additions:
                    layer = added.bind(name, additions, layer)
            else:
                lost = [
                    each.describe_omission(_IN_HOST_MEMORY, _NEEDS_RUNTIME) for each in additions
                ]
                additions = ()
        library = vendor.library if vendor.runtime is None else vendor.runtime
        info = _C.load_vendor(name, str(library), not over_table, layer)
        if additions:
            lost += added.problems_of(name, additions)
        return info, reason, lost


def _reject(problem: str) -> Registration:
    return Registration(False, (), (problem,))


def _format_broken(record: PluginRecord, name: str, error: Exception) -> str:
    said = str(error).rstrip(".")
    cure = record.reinstall
    if isinstance(error, diopi_proto.TrialTimeoutError):
        cure = f"DL_PROBE_TIMEOUT allows more. {cure}"
    return f"vendor {name!r} of {record.wheel} is ignored. {said}. {cure}"


def _format_untried(record: PluginRecord, name: str, reason: str) -> str:
    return (
        f"the library of vendor {name!r} of {record.wheel} was loaded without having been tried in "
        f"another process: {reason}. DL_DISABLE={record.name} leaves it out."
    )


def _let_autograd_finish() -> None:
    """Wait briefly for autograd's device threads before the interpreter exits.

    Such a thread releases Python objects after ``backward()`` has returned. If the process exited
    at once, the interpreter would already be finalized by then, and torch would abort.
    """
    time.sleep(_AUTOGRAD_GRACE)


def _attach(config: Config) -> list[str]:
    """Attach the device to torch; return the settings that could not be applied."""
    from dl_core.torch_backend import (
        attention_vmap,
        distributed,
        fallback,
        higher_order,
        modes,
        module,
        patches,
        process_sharing,
        supplied,
    )

    backend_registration.rename_privateuse1_backend(DEVICE)
    torch._register_device_module(DEVICE, module)
    backend_registration.generate_methods_for_privateuse1_backend(for_storage=True)
    # torch's own default, float16, is slow on the CPU reference.
    torch.set_autocast_dtype(DEVICE, torch.bfloat16)
    patches.apply()
    process_sharing.register()
    supplied.supply()
    attention_vmap.register()
    higher_order.register()
    distributed.register(config.distributed)
    atexit.register(_let_autograd_finish)
    fallback.set_fallback_mode(config.fallback)
    problems = modes.start(config)
    if config.mock_cuda:
        from dl_core.torch_backend import mock_cuda  # rarely used

        try:
            mock_cuda.start()
        except RuntimeError as error:
            problems.append(f"DL_MOCK_CUDA is ignored: {error}.")
    return problems
