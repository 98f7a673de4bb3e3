"""The environment of one torch release and Python: installed packages, and processes in it."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.projects import ROOT

OURS = "dl_*.dist-info"
"""Pattern of the installed metadata of this repository's wheels."""


class MatrixError(RuntimeError):
    """A step that is required for testing a release has failed."""


@dataclass(frozen=True)
class Environment:
    """The environment of one release with one Python.

    :ivar python: its interpreter.
    """

    release: str
    python: Path

    @property
    def constraints(self) -> Path:
        """Return the file with the pinned versions except those that depend on torch, written by
        the session."""
        return self.python.parents[1] / "constraints.txt"

    @property
    def packages(self) -> Path:
        """Return the folder of its packages.

        :raises MatrixError: the environment has packages of no Python, or of several.
        """
        found = sorted((self.python.parents[1] / "lib").glob("python3.*/site-packages"))
        if len(found) != 1:
            raise MatrixError(
                f"[torch-matrix] {self.python.parents[1]}: expected one folder "
                f"lib/python3.*/site-packages, found {len(found)}; recreate the environment with "
                f"--reuse-venv=never"
            )
        return found[0]

    @property
    def version(self) -> str:
        """Return its version of Python, such as ``3.12``."""
        return self.packages.parent.name.removeprefix("python")

    @property
    def name(self) -> str:
        """Return a name for messages and reports."""
        return f"torch {self.release}, Python {self.version}"

    @property
    def folder_name(self) -> str:
        """Return the name of the folder for its builds and results."""
        return f"{self.release}-py{self.version}"

    def run(
        self, *arguments: str, variables: Mapping[str, str] | None = None, folder: Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        """Run its interpreter, with its own programs first in PATH. Never raises."""
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            [str(self.python), *arguments],
            env={**os.environ, "PATH": path, "OMP_WAIT_POLICY": "passive", **(variables or {})},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def demand(self, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
        """Run its interpreter; return the output.

        :raises MatrixError: it failed.
        """
        done = self.run(*arguments, variables=variables)
        if done.returncode:
            raise MatrixError(
                f"[torch-matrix] {self.name}: python {' '.join(arguments)} ended with "
                f"{done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    def pip(self, *arguments: str) -> None:
        self.demand("-m", "pip", "--disable-pip-version-check", *arguments)

    def torch(self) -> str:
        """Return the version of the installed torch, with its local part.

        :raises MatrixError: it is a different release.
        """
        code = "import torch; print(torch.__version__)"
        found = self.demand("-c", code, variables={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}).strip()
        if found.partition("+")[0] != self.release:
            raise MatrixError(
                f"[torch-matrix] {self.python} has torch {found}, not {self.release}: recreate "
                f"its environment with --reuse-venv=never"
            )
        return found

    def version_of(self, distribution: str) -> str | None:
        """Return the version of an installed distribution, None if it is not installed."""
        code = (
            "import importlib.metadata as m, json, sys\n"
            "found = [d.version for d in m.distributions(name=sys.argv[1])]\n"
            "print(json.dumps(found[0] if found else None))"
        )
        found: str | None = json.loads(self.demand("-c", code, distribution))
        return found

    def install(self, wheels: Iterable[Path]) -> None:
        """Replace the installed wheels of this repository by these.

        Their requirements are installed too, but never another torch.

        :raises MatrixError: their requirements conflict.
        """
        installed = [path.name.partition("-")[0] for path in self.packages.glob(OURS)]
        if installed:
            self.pip("uninstall", "--yes", *installed)
        pins = ("--constraint", str(self.constraints))
        self.pip("install", *pins, f"torch=={self.release}", *map(str, wheels))
        self.pip("check")

    def differing_files(self, wheel: Path) -> list[str]:
        """Return the files of a wheel whose installed contents differ, by their names in the
        wheel."""
        found = []
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                # pip adds files that it has created to the record.
                if name.endswith(("/", ".dist-info/RECORD")):
                    continue
                path = self.packages / name
                if not path.is_file() or path.read_bytes() != archive.read(name):
                    found.append(name)
        return found
