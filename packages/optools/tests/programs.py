"""Programs that run in child processes in which the package is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import diopi_proto
import dl_core
import dl_optools

ENTRY_POINTS = """[dl]
optools = dl_optools.plugin

[torch.backends]
dl_optools = dl_optools._entry:autoload
"""


def environment(folder: Path) -> dict[str, str]:
    """Return variables for a process that finds the package and its entry points, without tools."""
    information = folder / "site" / "dl_optools-0.1.0.dist-info"
    information.mkdir(parents=True, exist_ok=True)
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: dl-optools\nVersion: 0.1.0\n"
    )
    (information / "entry_points.txt").write_text(ENTRY_POINTS)
    packages = (dl_optools, dl_core, diopi_proto)
    roots = [str(Path(next(iter(x.__path__))).parent) for x in packages]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OP_", "DL_", "AUTOCOMPARE_")) or name == "DL_VENDORS"
    }
    path = [str(information.parent), *roots, kept.get("PYTHONPATH", "")]
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "DL_TOOLS_OUTPUT": str(folder / "results"),
    }


def dl(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command ``dl`` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "dl_core.cli", *arguments],
        env={**environment(folder), **variables},
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=240,
    )


def script(folder: Path, text: str) -> str:
    """Write a program to a file."""
    path = folder / "program.py"
    path.write_text(text)
    return str(path)
