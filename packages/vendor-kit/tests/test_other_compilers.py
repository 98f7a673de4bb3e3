"""Tests of the wheel in docs/other-compilers.md, built with hipcc in place of a chip's compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "other-compilers.md"
FAMILIES = "copy,complex,activation_piecewise"
PYPROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "dl-vendor-chip"
version = "0.1.0"
[tool.setuptools.packages.find]
where = ["src"]
"""
USE = """
import sys
from pathlib import Path
from diopi_proto import load_vendor
(library,) = Path(sys.argv[1]).glob("dl_vendor_chip/lib/*.so")
with load_vendor(library) as vendor:
    print(vendor.name, "diopiRelu" in vendor.operators)
"""


def code_block(language: str, mark: str) -> str:
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if mark in block]
    return str(found)


@pytest.mark.skipif(shutil.which("hipcc") is None, reason="no hipcc")
def test_the_wheel_is_built_and_lists_its_operators(tmp_path: Path) -> None:
    for place, text in (
        ("csrc/vendor.h", code_block("cpp", "struct Api")),
        ("csrc/vendor.cpp", code_block("cpp", "DL_KIT_VENDOR")),
        ("setup.py", code_block("python", "DeviceCompiler(")),
        ("pyproject.toml", PYPROJECT),
        ("src/dl_vendor_chip/__init__.py", ""),
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    target = tmp_path / "target"
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-index")
    options = ("--no-deps", "--no-build-isolation", "--target", str(target), str(tmp_path))
    env = {**os.environ, "CHIP_FAMILIES": FAMILIES}
    built = subprocess.run(
        [sys.executable, *pip, *options], env=env, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr[-3000:]
    used = subprocess.run(
        [sys.executable, "-c", USE, str(target)], capture_output=True, text=True, check=False
    )
    assert used.stdout.split() == ["chip", "True"], used.stderr
