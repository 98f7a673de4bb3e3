"""Checks in processes of their own: which driver there is, a library settles for good."""

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
SOURCES = Path(__file__).parents[1]
FAKE = KIT / "fake_hip"
"""A driver whose cards are threads, and that fails on demand; fake_hip.cpp has its variables."""


def compile_fake(folder: Path, *flags: str) -> Path:
    """The fake as a library that DL_ROCM_DRIVER can name."""
    target = folder / "libamdhip64.so"
    sources = sorted(map(str, FAKE.glob("*.cpp")))
    command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", "-pthread", *flags, *sources]
    folders = [f"-I{include_dir()}", f"-I{KIT / 'include'}"]
    subprocess.run([*command, *folders, "-o", str(target)], check=True)
    return target


def compile_library(name: str, folder: Path) -> Path:
    """A library of ``fakes/``, which says at its top what it plays: ``"hipblaslt"``, …"""
    target = folder / f"lib{name}.so"
    folders = [f"-I{path}" for path in (include_dir(), KIT / "include", KIT, SOURCES / "csrc")]
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread", *folders]
    # By which a fake compiler finds its own headers.
    flags.append(f'-DFAKE_HIP_FOLDERS="-I{FAKE}"')
    source = Path(__file__).parent / "fakes" / f"{name}.cpp"
    subprocess.run(["g++", *flags, str(source), "-o", str(target), "-ldl"], check=True)
    return target


def run(code: str, **variables: str) -> str:
    """What Python code prints that runs with these variables, and without others of the tests.

    :raises AssertionError: it ends otherwise than with 0; the message is what it said.
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


def on_vendor(code: str, **variables: str) -> str:
    """As :func:`run`, for code that uses ``vendor``, the vendor under dl-diopi-proto's host.

    The library is that of the tests, or of the folder that PYTHONPATH names first.
    """
    start = """
    import numpy as np
    from diopi_proto import OperatorError, OutOfMemoryError, VendorError, load_vendor
    from dl_vendor_rocm.plugin import dl_vendor
    vendor = load_vendor(str(dl_vendor().library))
    """
    return run(textwrap.dedent(start) + textwrap.dedent(code), **variables)


def doctor(**variables: str) -> dict[str, Any]:
    """What ``dl doctor --json`` says of this vendor."""
    code = "import sys; from dl_core.cli import main; main(['doctor', '--json'])"
    report = json.loads(run(f"try:\n    {code}\nexcept SystemExit:\n    pass", **variables))
    (found,) = [vendor for vendor in report["vendors"] if vendor["name"] == "rocm"]
    assert isinstance(found, dict)
    return found


def library() -> Path:
    """That of the tests."""
    return dl_vendor().library
