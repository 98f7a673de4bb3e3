"""Build of the vendor library, which needs neither Cambricon's SDK nor an MLU.

``DL_CAMBRICON_SIMULATED=1`` adds fakes of the SDK's libraries, on which the vendor runs without a
device.
"""

import os
import runpy
import shutil
import sys
import tempfile
from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

VERSION = runpy.run_path("src/dl_vendor_cambricon/_version.py")["__version__"]
SIMULATED = "DL_CAMBRICON_SIMULATED"
# Sources of the fakes are next to the package, in the repository only.
FAKES = Path(__file__).absolute().parents[1] / "vendor-kit" / "tests" / "fakes"


def vendor() -> VendorLibrary:
    headers = [*Path("csrc").rglob("*.h"), *Path(include_dir()).rglob("*.h")]
    return VendorLibrary(
        "dl_vendor_cambricon.lib.libdl_vendor_cambricon",
        sources=sorted(map(str, Path("csrc").rglob("*.cpp"))),
        include_dirs=["csrc", str(include_dir())],
        define_macros=[("DL_CAMBRICON_VERSION", f'"{VERSION}"')],
        extra_compile_args=["-Wall", "-Wextra"],
        depends=[str(path) for path in headers],
    )


def build_fakes(target: Path) -> None:
    """Build the fakes of the SDK's libraries.

    :raises SystemExit: the package is not in its repository.
    """
    if not FAKES.is_dir():
        raise SystemExit(f"{SIMULATED}=1 needs a checkout of the repository: no {FAKES}")
    sys.path.insert(0, str(FAKES))
    from cambricon.operators.build import build_operators
    from cambricon.runtime.build import build_runtime

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_operators(folder, runtime=build_runtime(folder / "lib64"))
        for part in ("lib64", "include"):
            shutil.copytree(folder / part, target / part)


class build(build_vendor_library):  # noqa: N801 - setuptools names it so
    """Build step that also builds the fakes, or leaves out those of an earlier build."""

    def run(self) -> None:
        super().run()
        simulated = Path(self.build_lib, "dl_vendor_cambricon", "lib", "simulated")
        shutil.rmtree(simulated, ignore_errors=True)
        if os.environ.get(SIMULATED, "0") not in ("", "0"):
            build_fakes(simulated)


setup(ext_modules=[vendor()], cmdclass={"build_ext": build})
