"""Built wheels: size, licence, tags, and the metadata that an index would refuse."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from .declared import LICENSE_FILES

# The package index refuses larger files without a request.
MOST_BYTES = 100_000_000


def problems(wheels: list[Path]) -> list[str]:
    """Return what is wrong with wheels, one line each."""
    found = []
    for wheel in wheels:
        size = wheel.stat().st_size
        if size > MOST_BYTES:
            found.append(f"{wheel.name}: {size / 1e6:.1f} MB, more than {MOST_BYTES / 1e6:.0f} MB")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        for file in LICENSE_FILES:
            if not any(name.endswith(f".dist-info/licenses/{file}") for name in names):
                found.append(f"{wheel.name}: has no {file}")
        strays = [x for x in names if "__pycache__" in x or x.startswith(("tests/", "build/"))]
        found += [f"{wheel.name}: contains {name}" for name in strays]
        if any(name.endswith(".so") for name in names) and "-linux_" in wheel.name:
            found.append(f"{wheel.name}: has no manylinux tag; build it with tools.build_wheels")
    return found


def twine_problems(files: list[Path]) -> list[str]:
    """Return what ``twine check --strict`` says of sdists and wheels; nothing if all are valid."""
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    return [line.strip() for line in lines if line.strip()] if done.returncode else []
