"""The package's folders; everything else stands in pyproject.toml."""

from pathlib import Path

from setuptools import setup

# The headers stand beside src/, where C++ projects look for them, and inside the wheel's package.
ROOT = Path("include")
HEADERS = {
    ".".join(("dl_kernels.include", *folder.relative_to(ROOT).parts)): str(folder)
    for folder in sorted((ROOT / "dl_kernels", *(ROOT / "dl_kernels").rglob("*")))
    if folder.is_dir()
}

setup(packages=["dl_kernels", *HEADERS], package_dir={"": "src", **HEADERS})
