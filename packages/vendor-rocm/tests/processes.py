"""Checks in child processes, because a library selects its driver once per process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from diopi_proto import include_dir
from dl_vendor_rocm.plugin import dl_vendor

KIT = Path(__file__).parents[2] / "vendor-kit"
FAKES = KIT / "tests" / "fakes"
SOURCES = Path(__file__).parents[1]
FAKE = FAKES / "hip"
"""Sources of a fake driver with failure injection; fake_hip.cpp documents its variables."""


def compile_fake(folder: Path, *flags: str) -> Path:
    """Build the fake driver as a library for DL_ROCM_DRIVER."""
    target = folder / "libamdhip64.so"
    sources = sorted(map(str, FAKE.glob("*.cpp")))
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", *flags, *sources]
    folders = [f"-I{include_dir()}", f"-I{KIT / 'include'}"]
    subprocess.run([*command, *folders, "-o", str(target)], check=True)
    return target


def compile_library(name: str, folder: Path) -> Path:
    """Build a fake library of ``fakes/``, such as ``"hipblaslt"``."""
    target = folder / f"lib{name}.so"
    folders = [f"-I{path}" for path in (include_dir(), KIT / "include", FAKES, SOURCES / "csrc")]
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread", *folders]
    # With these options, the fake compiler finds its own headers.
    flags.append(f'-DFAKE_HIP_FOLDERS="-I{FAKE}"')
    source = Path(__file__).parent / "fakes" / f"{name}.cpp"
    subprocess.run(["g++", *flags, str(source), "-o", str(target), "-ldl"], check=True)
    return target


def run(code: str, **variables: str) -> str:
    """Run Python code with these variables, without others of the tests, and return its output.

    :raises AssertionError: the exit status is not 0; the message is the output.
    """
    names = ("DL_ROCM_", "DL_VENDORS", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
    env = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**env, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout + done.stderr


def run_on_vendor(code: str, **variables: str) -> str:
    """Like :func:`run`, for code that uses ``vendor``, this vendor in dl-diopi-proto's host.

    The library is the installed one, or that of the first folder in PYTHONPATH.
    """
    start = """
    import numpy as np
    from diopi_proto import OperatorError, OutOfMemoryError, VendorError, load_vendor
    from dl_vendor_rocm.plugin import dl_vendor
    vendor = load_vendor(str(dl_vendor().library))
    """
    return run(textwrap.dedent(start) + textwrap.dedent(code), **variables)


def doctor(**variables: str) -> dict[str, Any]:
    """Return the entry of this vendor in ``dl doctor --json``."""
    code = "import sys; from dl_core.cli import main; main(['doctor', '--json'])"
    report = json.loads(run(f"try:\n    {code}\nexcept SystemExit:\n    pass", **variables))
    (found,) = [vendor for vendor in report["vendors"] if vendor["name"] == "rocm"]
    assert isinstance(found, dict)
    return found


def library() -> Path:
    """Return the path of the library under test."""
    return dl_vendor().library
