"""Folders with modules and libraries of an attacker, which record when they run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import diopi_proto

MODULE = """
import os
with open({witness!r}, "a") as file:
    file.write({name!r} + "\\n")
raise SystemExit("code of a stranger runs")
"""
LIBRARY = """
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void) {{
  int file = open("{witness}", O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file >= 0 && write(file, "library\\n", 8)) close(file);
}}
"""
NAMES = (
    *("json", "argparse", "dataclasses", "subprocess", "signal", "select", "tempfile", "logging"),
    *("platform", "difflib", "pathlib", "rich", "numpy", "cffi", "_cffi_backend", "pluggy"),
    *("diopi_proto", "dl_core", "dl_optools", "dl_vendor_cpu", "torch"),
)
"""Modules that our processes import, or might import."""


class Planted:
    """A folder with an attacker's modules, and the record of modules that ran."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "planted"
        self.folder.mkdir()
        self._witness = folder / "witness"
        for name in NAMES:
            self.module(name)

    def module(self, name: str) -> None:
        text = MODULE.format(witness=str(self._witness), name=name)
        (self.folder / f"{name}.py").write_text(text)

    def library(self, name: str) -> Path:
        """Build a library that records when it is loaded."""
        source = self.folder / "planted.c"
        source.write_text(LIBRARY.format(witness=self._witness))
        path = self.folder / name
        subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(path)], check=True)
        return path

    def plugin(self) -> None:
        """Create the files of an installed wheel with a plugin."""
        self.module("stranger_plugin")
        info = self.folder / "dl_stranger-6.6.dist-info"
        info.mkdir()
        info.joinpath("METADATA").write_text(
            "Metadata-Version: 2.1\nName: dl-stranger\nVersion: 6.6\n"
        )
        info.joinpath("entry_points.txt").write_text("[dl]\nstranger = stranger_plugin\n")

    @property
    def ran(self) -> list[str]:
        """Return what ran since the last call."""
        if not self._witness.exists():
            return []
        found = self._witness.read_text().split()
        self._witness.unlink()
        return found

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a program with the folder as the current one."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=100,
        )


def command(name: str = "dl") -> str:
    """Return the path of a console script of this environment."""
    return str(Path(sys.executable).with_name(name))


def packages() -> str:
    """Return the folder that our packages are installed in."""
    return str(Path(diopi_proto.__file__).parents[1])
