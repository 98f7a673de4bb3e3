"""One torch release's environment: what is installed in it, and processes that run in it."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.projects import ROOT

OURS = "dl_*.dist-info"
"""The installed metadata of this repository's wheels."""


class MatrixError(RuntimeError):
    """A step without which nothing of a release can be judged has failed."""


@dataclass(frozen=True)
class Environment:
    """The environment of one release.

    :ivar python: its interpreter.
    """

    release: str
    python: Path

    @property
    def constraints(self) -> Path:
        """The pinned versions but for those that torch decides on, as the session wrote them."""
        return self.python.parents[1] / "constraints.txt"

    @property
    def packages(self) -> Path:
        """Where its packages are. It has this process's version of Python."""
        names = {"base": str(self.python.parents[1]), "platbase": str(self.python.parents[1])}
        return Path(sysconfig.get_path("platlib", scheme="venv", vars=names))

    def run(
        self, *arguments: str, variables: Mapping[str, str] | None = None, folder: Path = ROOT
    ) -> subprocess.CompletedProcess[str]:
        """Run its interpreter, with its own programs first on the path. Nothing is raised."""
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
        """Run its interpreter; return what it prints.

        :raises MatrixError: it failed.
        """
        done = self.run(*arguments, variables=variables)
        if done.returncode:
            raise MatrixError(
                f"[torch-matrix] torch {self.release}: python {' '.join(arguments)} ended with "
                f"{done.returncode}\n{done.stdout}{done.stderr}"
            )
        return done.stdout

    def pip(self, *arguments: str) -> None:
        self.demand("-m", "pip", "--disable-pip-version-check", *arguments)

    def torch(self) -> str:
        """The version of the torch that is there, with its local part.

        :raises MatrixError: it is of another release.
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
        """The version of a distribution that is there, None if it is not."""
        code = (
            "import importlib.metadata as m, json, sys\n"
            "found = [d.version for d in m.distributions(name=sys.argv[1])]\n"
            "print(json.dumps(found[0] if found else None))"
        )
        found: str | None = json.loads(self.demand("-c", code, distribution))
        return found

    def install(self, wheels: Iterable[Path]) -> None:
        """Replace our installed wheels by these.

        Whatever they need is installed too, but never another torch.

        :raises MatrixError: their requirements cannot be met together.
        """
        installed = [path.name.partition("-")[0] for path in self.packages.glob(OURS)]
        if installed:
            self.pip("uninstall", "--yes", *installed)
        pins = ("--constraint", str(self.constraints))
        self.pip("install", *pins, f"torch=={self.release}", *map(str, wheels))
        self.pip("check")

    def differing_files(self, wheel: Path) -> list[str]:
        """The files of a wheel that are not there byte for byte, by their names in it."""
        found = []
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                # pip adds to the record what it has made itself.
                if name.endswith(("/", ".dist-info/RECORD")):
                    continue
                path = self.packages / name
                if not path.is_file() or path.read_bytes() != archive.read(name):
                    found.append(name)
        return found
