"""Declarations of the projects: versions in step, and the metadata that an index shows."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.projects import Project

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REQUIRED = ("name", "description", "readme", "license", "requires-python", "classifiers")
# Texts that the licence asks for, in each sdist and wheel.
LICENSE_FILES = ("LICENSE", "NOTICE")
_ASSIGNMENT = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


class ReleaseError(RuntimeError):
    """A release cannot be made; the message says why, and what to do."""


@dataclass(frozen=True)
class Declared:
    """A project and its ``pyproject.toml``."""

    project: Project
    document: dict[str, Any]

    @property
    def version_file(self) -> Path:
        """Return the file that assigns ``__version__``.

        :raises ReleaseError: ``tool.setuptools.dynamic`` does not name an attribute.
        """
        dynamic = self.document.get("tool", {}).get("setuptools", {}).get("dynamic", {})
        attribute = dynamic.get("version", {}).get("attr", "")
        if not attribute:
            raise ReleaseError(
                f"[release] {self.project.name}: pyproject.toml must name the attribute with the "
                "version in tool.setuptools.dynamic"
            )
        module = self.project.folder.joinpath("src", *attribute.split(".")[:-1])
        package = module / "__init__.py"
        return package if package.is_file() else module.with_suffix(".py")

    @property
    def version(self) -> str:
        """Return the version that the source assigns.

        :raises ReleaseError: it is not a plain string at the top level.
        """
        found = _ASSIGNMENT.findall(self.version_file.read_text(encoding="utf-8"))
        if len(found) != 1:
            raise ReleaseError(
                f'[release] {self.version_file}: one line __version__ = "..." is needed, '
                f"{len(found)} found"
            )
        return str(ast.literal_eval(f'"{found[0]}"'))

    def with_version(self, version: str) -> str:
        """Return the text of the version's file with another version."""
        text = self.version_file.read_text(encoding="utf-8")
        return _ASSIGNMENT.sub(f'__version__ = "{version}"', text)


def declared(projects: list[Project]) -> list[Declared]:
    """Read the metadata of the projects that are released."""
    return [
        Declared(each, tomllib.loads((each.folder / "pyproject.toml").read_text(encoding="utf-8")))
        for each in projects
        if not each.test_only
    ]


def problems(projects: list[Declared]) -> list[str]:
    """Return what an index or a user would miss in the projects' sources."""
    found = []
    versions: dict[str, list[str]] = {}
    for each in projects:
        name, metadata = each.project.name, each.document["project"]
        found += [
            f"{name}: pyproject.toml lacks project.{x}" for x in REQUIRED if x not in metadata
        ]
        for file in LICENSE_FILES:
            if not (each.project.folder / file).is_file():
                found.append(f"{name}: {file} is missing; link it to the one of the repository")
        versions.setdefault(each.version, []).append(name)
        changes = (each.project.folder / "CHANGELOG.md").read_text(encoding="utf-8")
        if f"\n## {each.version}\n" not in changes:
            found.append(f"{name}: CHANGELOG.md has no section '## {each.version}'")
    if len(versions) > 1:
        listed = "; ".join(f"{version}: {', '.join(names)}" for version, names in versions.items())
        found.append(f"versions differ; run python -m tools.release bump VERSION: {listed}")
    return found
