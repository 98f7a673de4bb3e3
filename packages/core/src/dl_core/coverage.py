"""Coverage of the overloads that a backend has to provide, for each visible device.

Needs torch at run time: the data comes from the dispatcher and the vendors' libraries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from types import MappingProxyType
from typing import Any

TIERS = ("A", "B", "C")
KINDS = ("native", "composed", "fallback", "unsupported")
MEANINGS = {
    "native": "the vendor's own operator",
    "composed": "composed by dl-core or torch of the vendor's operators, or a view",
    "fallback": "runs on the CPU, with copies",
    "unsupported": "needs sparse, quantized or nested tensors",
}


@dataclass(frozen=True)
class Coverage:
    """Coverage of one device: ``overloads[tier][kind]`` is sorted by name."""

    device: str
    vendor: str
    overloads: Mapping[str, Mapping[str, tuple[str, ...]]]
    adaptor: str = ""
    """Summary of the vendor's adaptor file; empty if it has none."""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Operators of the contract, of which each would make the overload native. Fallbacks without
    an entry have no operator in the contract."""

    def count(self, tier: str, kind: str) -> int:
        return len(self.overloads[tier][kind])

    def percent(self, tier: str, kind: str) -> float:
        """Return the percentage of the tier, 0 for an empty one."""
        total = sum(self.count(tier, each) for each in KINDS)
        return 100.0 * self.count(tier, kind) / total if total else 0.0

    def lacking(self, tiers: Sequence[str] = TIERS) -> dict[str, set[str]]:
        """Return the operators that the vendor lacks, with the fallbacks that they would avoid."""
        found: dict[str, set[str]] = {}
        for tier in tiers:
            for name in self.overloads[tier]["fallback"]:
                for operator in self.needs.get(name, ())[:1]:
                    found.setdefault(operator, set()).add(name)
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "vendor": self.vendor,
            "adaptor": self.adaptor,
            "needs": {name: list(operators) for name, operators in self.needs.items()},
            "tiers": {
                tier: {
                    kind: {
                        "count": self.count(tier, kind),
                        "percent": round(self.percent(tier, kind), 2),
                        "overloads": list(self.overloads[tier][kind]),
                    }
                    for kind in KINDS
                }
                for tier in TIERS
            },
        }


def required_overloads() -> dict[str, str]:
    """Return the overloads that a backend has to provide, with their tiers."""
    text = resources.files("dl_core").joinpath("required_overloads.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {name: tier for tier, name in lines}


def sort_out(
    device: str,
    vendor: str,
    required: Mapping[str, str],
    native: set[str],
    composed: set[str],
    adaptor: str = "",
    operators: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Coverage:
    """Sort the required overloads by where they run. Names are without ``aten::``.

    :param operators: operators of the contract that dl-core calls for an overload.
    """
    found: dict[str, dict[str, list[str]]] = {tier: {kind: [] for kind in KINDS} for tier in TIERS}
    for name in sorted(required):
        tier = required[name]
        if name in native:
            kind = "native"
        elif name in composed:
            kind = "composed"
        else:
            # The device type registers no sparse, quantized or nested kernels.
            kind = "unsupported" if tier == "C" else "fallback"
        found[tier][kind].append(name)
    frozen = {
        tier: {kind: tuple(names) for kind, names in kinds.items()} for tier, kinds in found.items()
    }
    needs = {
        name: tuple(operators[name])
        for kinds in frozen.values()
        for name in kinds["fallback"]
        if name in operators
    }
    return Coverage(device, vendor, frozen, adaptor, needs)


def measure() -> list[Coverage]:
    """Return the coverage of every visible device.

    :raises ImportError: torch is not installed, or dl-core has not registered with it.
    """
    import torch

    from dl_core import _C
    from dl_core.torch_backend import adaptors

    has = torch._C._dispatch_has_kernel_for_dispatch_key

    # Later torch releases have removed a few overloads of the list.
    required = {
        name: tier
        for name, tier in required_overloads().items()
        if torch._C._dispatch_has_kernel(f"aten::{name}")
    }
    composed = {_bare(name) for name in _C.composed_operators()}
    # torch itself decomposes operators on lists of tensors into operators on each tensor.
    composed |= {
        name
        for name, tier in required.items()
        if tier != "C"
        and has(f"aten::{name}", "CompositeExplicitAutograd")
        and not has(f"aten::{name}", "PrivateUse1")
    }
    operators = {_bare(name): found for name, found in _C.operators_by_overload().items()}
    vendors = [str(_C.device_info(index)["vendor"]) for index in range(_C.device_count())]
    return [
        sort_out(
            f"dl:{index}",
            vendor,
            required,
            {_bare(name) for name in _C.native_overloads(index)},
            composed,
            adaptors.summary_of(vendor),
            operators,
        )
        for index, vendor in enumerate(vendors)
    ]


def _bare(name: str) -> str:
    return name.removeprefix("aten::")
