"""The vendors of this repository, read from packages/vendor-*."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import nox.project

from .requirements import ROOT

# A table of a pyproject.toml.
Metadata = Mapping[str, Any]


def vendors() -> dict[str, Metadata]:
    """The project tables of packages/vendor-*, by the name that DL_VENDORS knows each by."""
    found: dict[str, Metadata] = {}
    for path in sorted(ROOT.glob("packages/vendor-*/pyproject.toml")):
        project = nox.project.load_toml(path)["project"]
        # A package without a plugin is not a vendor: vendors are built with it.
        for name in project.get("entry-points", {}).get("dl", {}):
            found[name] = project
    return found


def reference_vendor() -> str:
    """Return the name of the vendor whose device every machine has, by ``tool.dl.reference``."""
    for name in vendors():
        metadata = nox.project.load_toml(ROOT / "packages" / f"vendor-{name}" / "pyproject.toml")
        if metadata.get("tool", {}).get("dl", {}).get("reference"):
            return name
    raise LookupError("no packages/vendor-*/pyproject.toml says tool.dl.reference = true")


def main_job() -> tuple[str, str]:
    """Return the wheels that the main job needs, but those that they need themselves."""
    return "dl-core", vendors()[reference_vendor()]["name"]


def libraries(names: Iterable[str] = ()) -> list[str]:
    """Return the extras of these vendor wheels (default: of all), but those for tests.

    They are libraries that a vendor loads where they are installed.
    """
    chosen = [x for x in vendors().values() if not names or x["name"] in names]
    extras = (project.get("optional-dependencies", {}) for project in chosen)
    return sorted({x for each in extras for name in each if name != "test" for x in each[name]})
