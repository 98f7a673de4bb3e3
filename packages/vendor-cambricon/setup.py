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
from dl_vendor_kit.library.build import joined_sources

VERSION = runpy.run_path("src/dl_vendor_cambricon/_version.py")["__version__"]
SIMULATED = "DL_CAMBRICON_SIMULATED"
# Sources of the fakes are next to the package, in the repository only.
FAKES = Path(__file__).absolute().parents[1] / "vendor-kit" / "tests" / "fakes"


def is_simulated() -> bool:
    """Return True if the fakes are part of the wheel, which is then built quickly."""
    return os.environ.get(SIMULATED, "0") not in ("", "0")


def vendor() -> VendorLibrary:
    headers = [*Path("csrc").rglob("*.h"), *Path(include_dir()).rglob("*.h")]
    generated = [*Path("csrc/generated").glob("*.cpp")]
    others = [path for path in Path("csrc").rglob("*.cpp") if path not in generated]
    joined = joined_sources(Path("csrc/generated"), Path("build/joined"))
    return VendorLibrary(
        "dl_vendor_cambricon.lib.libdl_vendor_cambricon",
        sources=[*joined, *sorted(map(str, others))],
        include_dirs=["csrc", str(include_dir())],
        define_macros=[("DL_CAMBRICON_VERSION", f'"{VERSION}"')],
        extra_compile_args=["-Wall", "-Wextra", *(["-O0"] if is_simulated() else [])],
        depends=[str(path) for path in (*headers, *generated)],
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
    """Build step that also builds the fakes, or leaves out fakes of an earlier build."""

    def run(self) -> None:
        super().run()
        simulated = Path(self.build_lib, "dl_vendor_cambricon", "lib", "simulated")
        shutil.rmtree(simulated, ignore_errors=True)
        if is_simulated():
            build_fakes(simulated)


setup(ext_modules=[vendor()], cmdclass={"build_ext": build})
