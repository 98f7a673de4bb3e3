"""The package's folders; everything else stands in pyproject.toml."""

from setuptools import setup

# The headers stand beside src/, where C++ projects look for them, and inside the wheel's package.
ROOT = "include/dl_kernels"

setup(
    packages=[
        "dl_kernels",
        "dl_kernels.include.dl_kernels",
        "dl_kernels.include.dl_kernels.cpu",
        "dl_kernels.include.dl_kernels.gpu",
        "dl_kernels.include.dl_kernels.ops",
    ],
    package_dir={
        "": "src",
        "dl_kernels.include.dl_kernels": ROOT,
        "dl_kernels.include.dl_kernels.cpu": f"{ROOT}/cpu",
        "dl_kernels.include.dl_kernels.gpu": f"{ROOT}/gpu",
        "dl_kernels.include.dl_kernels.ops": f"{ROOT}/ops",
    },
)
