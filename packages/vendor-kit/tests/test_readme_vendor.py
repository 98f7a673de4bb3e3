"""Tests that the documented vendor builds as a wheel and runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "vendors.md"
USE = """
import sys
from diopi_proto import OperatorError, load_vendor
sys.path.insert(0, sys.argv[1])
from dl_vendor_board.plugin import dl_vendor

with load_vendor(dl_vendor().library, probe=True) as vendor:
    out = vendor.empty((3,))
    vendor.op.Relu(out, vendor.tensor([-1.0, 2.0, 3.0], "float32"))
    print(vendor.name, vendor.version, dl_vendor().version, out.numpy().tolist())
    try:
        vendor.op.Relu(vendor.empty((3,), "int32"), vendor.tensor([1, 2, 3], "int32"))
    except OperatorError as error:
        print(error.reason)
"""


def code_block(language: str, mark: str) -> str:
    """Return the page's only code block in a language that contains a mark."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (found,) = [block for block in blocks if mark in block]
    return str(found)


def run(*command: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    package = folder / "src" / "dl_vendor_board"
    for place, text in (
        (folder / "csrc" / "vendor.cpp", code_block("cpp", "struct Board")),
        (folder / "pyproject.toml", code_block("toml", "dl-vendor-board")),
        (folder / "setup.py", code_block("python", "VendorLibrary(")),
        (package / "plugin.py", code_block("python", "@hookimpl")),
        (package / "__init__.py", ""),
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, folder)
    (wheel,) = folder.glob("*.whl")
    assert re.fullmatch(r"dl_vendor_board-0\.1\.0-py3-none-linux_\w+\.whl", wheel.name)
    run(*pip, "install", "--no-deps", "--no-index", "--target", folder / "target", wheel)
    return folder / "target"


def test_it_computes_and_reports_unsupported_calls(installed: Path) -> None:
    assert run("-c", USE, installed).splitlines() == [
        "board 0.1.0 0.1.0 [0.0, 2.0, 3.0]",
        "only contiguous float32",
    ]
