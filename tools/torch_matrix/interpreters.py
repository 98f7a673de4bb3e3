"""Interpreters of other versions of Python on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


def find_interpreter(version: str) -> Path | None:
    """Return an interpreter of a Python version such as ``3.12``; None if there is none."""
    return next(filter(lambda path: _runs(path, version), _candidates(version)), None)


def _candidates(version: str) -> Iterator[Path]:
    """Yield paths that may be interpreters of a version: in PATH, of pyenv and of uv."""
    if in_path := shutil.which(f"python{version}"):
        yield Path(in_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"))
    data = Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share"))
    yield from sorted(data.glob(f"uv/python/cpython-{version}.*/bin/python{version}"))


def _runs(interpreter: Path, version: str) -> bool:
    """Return True if a file runs as this version: a shim of pyenv may stand for none."""
    code = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    command = [str(interpreter), "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout.strip() == version
