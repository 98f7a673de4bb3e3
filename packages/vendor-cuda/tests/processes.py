"""Checks in child processes, because a library selects its driver once per process."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from dl_vendor_cuda.plugin import dl_vendor

KIT = Path(__file__).parents[2] / "vendor-kit"
FAKES = KIT / "tests" / "fakes"
SOURCES = Path(__file__).parents[1]
FAKE = FAKES / "cuda" / "fake_cuda.cpp"
"""Source of a fake driver with failure injection; its first comment lists its variables."""


SETTINGS = ("DL_CUDA_", "DL_GPU_SIM_", "DL_VENDORS", "CUDA_VISIBLE_DEVICES")


def compile_fake(folder: Path, *flags: str) -> Path:
    """Build the fake driver as a library for DL_CUDA_DRIVER."""
    from diopi_proto import include_dir

    target = folder / "libcuda.so.1"
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", *flags, str(FAKE)]
    folders = [f"-I{include_dir()}", f"-I{KIT / 'include'}"]
    subprocess.run([*command, *folders, "-o", str(target)], check=True)
    return target


def compile_library(name: str, folder: Path) -> Path:
    """Build a fake library of ``fakes/``, such as ``"nccl"``."""
    from diopi_proto import include_dir

    target = folder / f"lib{name}.so"
    folders = [f"-I{path}" for path in (include_dir(), KIT / "include", FAKES, SOURCES / "csrc")]
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread", *folders]
    source = Path(__file__).parent / "fakes" / f"{name}.cpp"
    subprocess.run(["g++", *flags, str(source), "-o", str(target), "-ldl"], check=True)
    return target


def nvidia_library(name: str) -> str:
    """Return the path of a library in a wheel, installed or unpacked in DL_TEST_NVIDIA."""
    folders = os.environ.get("DL_TEST_NVIDIA", "").split(os.pathsep)
    spec = importlib.util.find_spec("nvidia")
    if spec is not None:
        folders += spec.submodule_search_locations or []
    for folder in filter(None, folders):
        for path in Path(folder).glob(f"*/lib/{name}"):
            return str(path)
    pytest.skip(f"no wheel here has {name}")


def run(code: str, **variables: str) -> str:
    """Run Python code with these variables, without others of the tests, and return its output.

    :raises AssertionError: the exit status is not 0; the message is the output.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
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
    """Like :func:`run`, for code that uses ``vendor``, this vendor in dl-diopi-proto's host."""
    start = f"""
    import numpy as np
    from diopi_proto import OperatorError, OutOfMemoryError, VendorError, load_vendor
    vendor = load_vendor({str(dl_vendor().library)!r})
    """
    return run(textwrap.dedent(start) + textwrap.dedent(code), **variables)


def doctor(**variables: str) -> dict[str, Any]:
    """Return the entry of this vendor in ``dl doctor --json``."""
    code = "import sys; from dl_core.cli import main; main(['doctor', '--json'])"
    report = json.loads(run(f"try:\n    {code}\nexcept SystemExit:\n    pass", **variables))
    (found,) = [vendor for vendor in report["vendors"] if vendor["name"] == "cuda"]
    assert isinstance(found, dict)
    return found
