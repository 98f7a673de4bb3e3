"""Bill of materials of an installation, as CycloneDX JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .process import run


def write(environment: Path, file: Path) -> int:
    """Write the bill of materials of an environment; return the number of its components.

    :raises ReleaseError: the environment cannot be read.
    """
    python = str(environment / "bin" / "python")
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
    run(*command, "--output-file", str(file), python)
    return len(json.loads(file.read_text(encoding="utf-8"))["components"])
