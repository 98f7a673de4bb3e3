"""The package's folders; everything else stands in pyproject.toml."""

from pathlib import Path

from setuptools import setup

# The headers stand beside src/, where C++ projects look for them, and inside the wheel's package.
ROOT = Path("include")
FOLDERS = ["dl_kernels", *(f"dl_kernels/{path.name}" for path in (ROOT / "dl_kernels").iterdir())]
HEADERS = {
    f"dl_kernels.include.{folder.replace('/', '.')}": f"{ROOT}/{folder}"
    for folder in sorted(FOLDERS)
    if (ROOT / folder).is_dir()
}

setup(packages=["dl_kernels", *HEADERS], package_dir={"": "src", **HEADERS})
