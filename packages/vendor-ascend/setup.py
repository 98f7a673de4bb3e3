"""Build of the vendor library, which needs neither CANN nor an NPU.

``DL_ASCEND_SIMULATED=1`` adds fakes of CANN's libraries, on which the vendor runs without a device.
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

VERSION = runpy.run_path("src/dl_vendor_ascend/_version.py")["__version__"]
SIMULATED = "DL_ASCEND_SIMULATED"
# Sources of the fakes are next to the package, in the repository only.
FAKES = Path(__file__).absolute().parents[1] / "vendor-kit" / "tests" / "fakes"


def is_simulated() -> bool:
    """Return True if the fakes are part of the wheel, which is then built quickly."""
    return os.environ.get(SIMULATED, "0") not in ("", "0")


def vendor() -> VendorLibrary:
    headers = [*Path("csrc").rglob("*.h"), *Path(include_dir()).rglob("*.h")]
    generated = [*Path("csrc/generated").glob("*.cpp")]
    others = [path for path in Path("csrc").rglob("*.cpp") if path not in generated]
    flags = ["-Wall", "-Wextra", *(["-O0"] if is_simulated() else [])]
    return VendorLibrary(
        "dl_vendor_ascend.lib.libdl_vendor_ascend",
        sources=[
            *joined_sources(Path("csrc/generated"), Path("build/joined")),
            *sorted(map(str, others)),
        ],
        include_dirs=["csrc", str(include_dir())],
        define_macros=[("DL_ASCEND_VERSION", f'"{VERSION}"')],
        extra_compile_args=flags,
        depends=[str(path) for path in (*headers, *generated)],
    )


def build_fakes(target: Path) -> None:
    """Build the fakes of CANN's libraries.

    :raises SystemExit: the package is not in its repository.
    """
    if not FAKES.is_dir():
        raise SystemExit(f"{SIMULATED}=1 needs a checkout of the repository: no {FAKES}")
    sys.path.insert(0, str(FAKES))
    from ascend.operators.build import build_operators
    from ascend.runtime.build import build_hccl, build_runtime

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runtime = build_runtime(folder)
        build_operators(folder, runtime=runtime)
        build_hccl(folder, runtime=runtime)
        target.mkdir(parents=True)
        for library in folder.glob("*.so"):
            shutil.copy2(library, target)


class build(build_vendor_library):  # noqa: N801 - setuptools names it so
    """Build step that also builds the fakes, or leaves out fakes of an earlier build."""

    def run(self) -> None:
        super().run()
        simulated = Path(self.build_lib, "dl_vendor_ascend", "lib", "simulated")
        shutil.rmtree(simulated, ignore_errors=True)
        if is_simulated():
            # CANN's folder of libraries, below the root that ASCEND_HOME_PATH names.
            build_fakes(simulated / "lib64")


setup(ext_modules=[vendor()], cmdclass={"build_ext": build})
