"""The vendors of this repository, read from packages/vendor-*."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import nox.project

from .requirements import ROOT

# A table of a pyproject.toml.
Metadata = Mapping[str, Any]


def vendors() -> dict[str, Metadata]:
    """Return the project tables of packages/vendor-*, by the vendor's name in DL_VENDORS."""
    found: dict[str, Metadata] = {}
    for path in sorted(ROOT.glob("packages/vendor-*/pyproject.toml")):
        project = nox.project.load_toml(path)["project"]
        # dl-vendor-kit, which helps to build vendors, has a plugin too, which is not a vendor.
        for name in project.get("entry-points", {}).get("dl", {}):
            if path.parent.name == f"vendor-{name}":
                found[name] = project
    return found


def reference_vendor() -> str:
    """Return the name of the vendor whose device every machine has, by ``tool.dl.reference``."""
    for name in vendors():
        if tool_table(name).get("reference"):
            return name
    raise LookupError("no packages/vendor-*/pyproject.toml has tool.dl.reference = true")


def main_job() -> tuple[str, str]:
    """Return the wheels that the main job needs, without their requirements."""
    return "dl-core", vendors()[reference_vendor()]["name"]


def tool_table(vendor: str) -> Metadata:
    """Return ``tool.dl`` of a vendor's pyproject.toml; empty for a plugin that is not a vendor."""
    path = ROOT / "packages" / f"vendor-{vendor}" / "pyproject.toml"
    if not path.exists():
        return {}
    table: Metadata = nox.project.load_toml(path).get("tool", {}).get("dl", {})
    return table


@dataclass(frozen=True)
class DriverPackages:
    """A driver for machines without the vendor's devices, from packages of the index."""

    requirements: tuple[str, ...]
    """The extra ``driver`` of the vendor's wheel."""
    variable: str
    """Environment variable that selects the driver."""
    library: str
    """Path of the driver in the environment of the packages."""


def driver_packages(vendor: str) -> DriverPackages | None:
    """Return the driver that ``tool.dl.driver`` of a vendor declares; None if there is none."""
    declared = tool_table(vendor).get("driver")
    if declared is None:
        return None
    requirements = vendors()[vendor]["optional-dependencies"]["driver"]
    return DriverPackages(tuple(requirements), declared["variable"], declared["library"])


def other_runtimes(vendor: str) -> dict[str, str]:
    """Return further drivers for tests: their commands by name, which run their arguments with it.

    They are ``tool.dl.runtimes`` of the vendor.
    """
    return dict(tool_table(vendor).get("runtimes", {}))


def libraries(names: Iterable[str] = ()) -> list[str]:
    """Return the extras of these vendor wheels (default: of all), except those for tests.

    They are libraries that a vendor loads if they are installed. A driver would make a device
    visible to every test, so it has a separate environment.
    """
    chosen = [x for x in vendors().values() if not names or x["name"] in names]
    extras = (project.get("optional-dependencies", {}) for project in chosen)
    return sorted(
        {
            x
            for each in extras
            for name in each
            if name not in ("test", "driver")
            for x in each[name]
        }
    )
