"""Package folders; everything else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup

# The headers are next to src/, where C++ projects expect them, and inside the package of the wheel.
ROOT = Path("include")
HEADERS = {
    ".".join(("dl_kernels.include", *folder.relative_to(ROOT).parts)): str(folder)
    for folder in sorted((ROOT / "dl_kernels", *(ROOT / "dl_kernels").rglob("*")))
    if folder.is_dir()
}

setup(packages=["dl_kernels", *HEADERS], package_dir={"": "src", **HEADERS})
