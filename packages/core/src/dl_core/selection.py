"""Selection of the devices that become ``dl:0``, ``dl:1``, …: pure functions without side effects.

There are two steps, because counting devices requires loading a library: :func:`plan` returns the
vendors to load, in order; :func:`settle` takes the device counts and returns the visible devices.
Both record their reasons as sentences for ``dl doctor``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

MOST_DEVICES = 64
"""Maximum number of visible devices: ``kMaxDevices`` of the compiled part."""


class Candidate(NamedTuple):
    """An installed vendor, as an input of the selection."""

    name: str
    priority: int
    accelerator: bool
    present: bool | None = None
    """Result of its presence check; None if only loading the library can tell."""


class Plan(NamedTuple):
    """Vendors to load, in order."""

    order: tuple[str, ...]
    first_only: bool
    """Stop at the first vendor that has a device."""
    reasons: tuple[str, ...]
    problems: tuple[str, ...] = ()
    torch_first: bool = False
    """True if torch itself has a GPU here, which takes precedence over vendors."""


class Choice(NamedTuple):
    """Visible devices: position ``i`` is ``dl:i``, as (vendor, the vendor's own index)."""

    devices: tuple[tuple[str, int], ...]
    reasons: tuple[str, ...]
    problems: tuple[str, ...] = ()


def _join(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


def plan(
    candidates: Sequence[Candidate], requested: Sequence[str] | None, torch_gpu: str | None
) -> Plan:
    """Decide which vendors to load.

    :param requested: the names in ``DL_VENDORS``, None if it is not set.
    :param torch_gpu: why torch itself has a GPU here; None if it has none.
    """
    if requested is not None:
        return _plan_requested(candidates, requested)
    if not candidates:
        return Plan((), True, ("No vendor is installed.",))
    if torch_gpu is not None:
        return Plan(
            (),
            True,
            (
                f"The dl device is off because {torch_gpu}: torch's own device has precedence. "
                f"DL_VENDORS enables it; installed vendors: {_join(_sorted_names(candidates))}.",
            ),
            torch_first=True,
        )
    return _plan_default(candidates)


def _sorted_names(candidates: Sequence[Candidate]) -> list[str]:
    return [c.name for c in sorted(candidates, key=lambda c: (-c.priority, c.name))]


def _plan_requested(candidates: Sequence[Candidate], requested: Sequence[str]) -> Plan:
    known = {c.name for c in candidates}
    order = tuple(name for name in dict.fromkeys(requested) if name in known)
    unknown = [name for name in dict.fromkeys(requested) if name not in known]
    problems = (
        (
            f"DL_VENDORS={','.join(requested)!r} names {_join(unknown)}, which no installed "
            f"plugin provides. Known vendors: {_join(_sorted_names(candidates))}.",
        )
        if unknown
        else ()
    )
    return Plan(order, False, (f"DL_VENDORS asks for {_join(requested)}.",), problems)


def _plan_default(candidates: Sequence[Candidate]) -> Plan:
    reasons: list[str] = []
    accelerators = [c for c in candidates if c.accelerator]
    references = [c for c in candidates if not c.accelerator]
    if accelerators:
        order = _sorted_names([c for c in accelerators if c.present is not False])
        reasons += [
            f"{c.name} is installed but reports no device."
            for c in accelerators
            if c.present is False
        ]
        if references:
            reasons.append(
                f"{_join(_sorted_names(references))} stays out because an accelerator vendor is "
                f"installed; DL_VENDORS={_sorted_names(references)[0]} makes it visible."
            )
    else:
        order = _sorted_names([c for c in references if c.present is not False])
        reasons.append("No accelerator vendor is installed, so the CPU reference is used.")
    return Plan(tuple(order), True, tuple(reasons))


def settle(plan: Plan, counts: Mapping[str, int]) -> Choice:
    """Decide which devices are visible.

    :param counts: number of devices of each loaded vendor; a vendor is missing if it failed to
        load, or if an earlier vendor had a device.
    """
    chosen: dict[str, int] = {}
    reasons: list[str] = []
    problems: list[str] = []
    for name in plan.order:
        count = counts.get(name)
        if plan.first_only and chosen:
            reasons.append(f"{name} stays out because {next(iter(chosen))} has precedence.")
        elif count is None:
            reasons.append(f"{name} could not be loaded.")
        elif count == 0:
            reasons.append(f"{name} has no device.")
            if not plan.first_only:
                problems.append(
                    f"DL_VENDORS asks for {name}, which has no device here. Check its driver, or "
                    f"leave it out of DL_VENDORS."
                )
        else:
            chosen[name] = count
            reasons.append(f"{name} has {count} device{'s' if count > 1 else ''}.")
    shares = _shares(chosen)
    problems += [
        f"{name} has {count} devices, of which only the first {shares[name]} are visible: at most "
        f"{MOST_DEVICES} devices can be visible. Settings of its driver may hide unneeded ones."
        for name, count in chosen.items()
        if shares[name] < count
    ]
    devices = [(name, index) for name in chosen for index in range(shares[name])]
    return Choice(tuple(devices), tuple(reasons), tuple(problems))


def _shares(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the number of visible devices of each vendor. Vendors with fewer devices get theirs
    first."""
    shares: dict[str, int] = {}
    left = MOST_DEVICES
    for position, name in enumerate(sorted(counts, key=lambda name: counts[name])):
        shares[name] = min(counts[name], left // (len(counts) - position))
        left -= shares[name]
    return shares
