"""Build of the vendor library, which needs neither CANN nor an NPU.

``DL_ASCEND_SIMULATED=1`` adds fakes of CANN's libraries, on which the vendor runs without a device.
"""

import os
import runpy
import shutil
from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

VERSION = runpy.run_path("src/dl_vendor_ascend/_version.py")["__version__"]
PLACE = "dl_vendor_ascend.lib"
SIMULATED = "DL_ASCEND_SIMULATED"
# Sources of the fakes are next to the package, in the repository only.
FAKES = Path(__file__).absolute().parents[1] / "vendor-kit" / "tests" / "fakes"


def headers(*folders: Path) -> list[str]:
    return [str(path) for folder in folders for path in folder.rglob("*.h")]


def vendor() -> VendorLibrary:
    return VendorLibrary(
        f"{PLACE}.libdl_vendor_ascend",
        sources=sorted(map(str, Path("csrc").rglob("*.cpp"))),
        include_dirs=["csrc", str(include_dir())],
        define_macros=[("DL_ASCEND_VERSION", f'"{VERSION}"')],
        extra_compile_args=["-Wall", "-Wextra"],
        depends=headers(Path("csrc"), Path(include_dir())),
    )


def runtime() -> VendorLibrary:
    """Return the fake of CANN's runtime.

    :raises SystemExit: the package is not in its repository.
    """
    folder = FAKES / "ascend" / "runtime"
    if not folder.is_dir():
        raise SystemExit(f"{SIMULATED}=1 needs a checkout of the repository: no {folder}")
    return VendorLibrary(
        f"{PLACE}.simulated.libascendcl",
        sources=sorted(map(str, folder.glob("*.cpp"))),
        exports=("acl*", "fake_acl_*", "fakeAcl*"),
        soname="libascendcl.so",
        include_dirs=["csrc", str(include_dir()), str(FAKES)],
        extra_compile_args=["-O1", "-pthread", "-Wall", "-Wextra"],
        legacy=True,
        depends=headers(folder, FAKES / "common", Path("csrc")),
    )


class build(build_vendor_library):  # noqa: N801 - setuptools names it so
    """Build step that leaves no fakes of an earlier build in the wheel."""

    def run(self) -> None:
        shutil.rmtree(Path(self.build_lib, *PLACE.split("."), "simulated"), ignore_errors=True)
        super().run()


is_simulated = os.environ.get(SIMULATED, "0") not in ("", "0")
setup(
    ext_modules=[vendor(), *([runtime()] if is_simulated else [])],
    cmdclass={"build_ext": build},
)
