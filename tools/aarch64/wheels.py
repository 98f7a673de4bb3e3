"""Wheels of this repository, built in the root filesystem and installed there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping

from tools.projects import Project, own_requirements
from tools.torch_matrix.core_wheel import copy_sources

from .packages import CONSTRAINTS, pip_install
from .root import PYTHON, Root

SOURCES = "src"
"""Folder of the copied sources in the root filesystem; it keeps the objects of earlier builds."""
WHEELS = "wheels"
# Builds as pip does, without the time that pip itself takes by emulation.
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"


class Builder:
    """Builder of wheels. A wheel is kept if its sources and variables are unchanged.

    :param variables: variables that the build scripts read.
    """

    def __init__(self, root: Root, variables: Mapping[str, str]) -> None:
        self.root, self.variables = root, variables
        self._record = root.path / WHEELS / "record.json"
        self._digests: dict[str, str] = {}

    def build(self, project: Project, *foundations: str) -> bool:
        """Build and install a wheel unless it is current; return True if it was built.

        Wheels that it needs must have been built before.

        :param foundations: versions of other software that the wheel depends on.
        :raises SessionError: the wheel does not build.
        """
        needed = [self._digests[x] for x in own_requirements(project, self._digests)]
        read = {name: self.variables.get(name, "") for name in self._names(project)}
        constraints = CONSTRAINTS.read_text(encoding="utf-8")
        digest = project.digest([constraints, json.dumps(read), *needed, *foundations])
        self._digests[project.name] = digest
        if self._read().get(project.name) == digest:
            return False
        copy_sources(project, self.root.path / SOURCES / project.name)
        folder = self.root.path / WHEELS / project.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.root.run(
            *(PYTHON, "-c", BUILD, f"/{WHEELS}/{project.name}"),
            folder=f"/{SOURCES}/{project.name}",
            variables=self.variables,
            log=f"build-{project.name}",
        )
        (wheel,) = folder.glob("*.whl")
        pip_install(self.root, "--no-deps", "--no-index", str(wheel))
        self._record.write_text(
            json.dumps({**self._read(), project.name: digest}), encoding="utf-8"
        )
        return True

    def size(self, project: Project) -> int:
        """Return the size of a wheel in bytes."""
        (wheel,) = (self.root.path / WHEELS / project.name).glob("*.whl")
        return wheel.stat().st_size

    def _names(self, project: Project) -> list[str]:
        return ["DL_BUILD_ISA", *project.build_variables] if project.compiles else []

    def _read(self) -> dict[str, str]:
        if not self._record.exists():
            return {}
        record: dict[str, str] = json.loads(self._record.read_text(encoding="utf-8"))
        return record
