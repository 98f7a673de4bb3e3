"""Compare our declarations of CANN's functions with the headers in torch_npu's wheel.

The wheel is downloaded from the package index into build/torch-npu; nothing is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).absolute().parents[1]
FOLDER = PACKAGE.parents[1] / "build" / "torch-npu"
TORCH_NPU = "torch-npu==2.14.0"
HEADERS = "torch_npu/include/third_party/"


def download(folder: Path) -> None:
    """Download the wheel, unless it is there, and unpack its headers of CANN.

    :raises CalledProcessError: the index has no such wheel for this Python.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        options = ("--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(folder))
        subprocess.run([*command, *options, TORCH_NPU], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(HEADERS)]
        archive.extractall(folder, names)


def main() -> int:
    download(FOLDER)
    tests = str(PACKAGE / "tests" / "test_cann_h.py")
    env = {**os.environ, "DL_TEST_TORCH_NPU": str(FOLDER)}
    command = [sys.executable, "-m", "pytest", "-q", tests, *sys.argv[1:]]
    return subprocess.run(command, env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
