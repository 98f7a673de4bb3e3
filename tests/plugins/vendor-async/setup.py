"""Builds the vendor library with the contract's build helper; the rest is in pyproject.toml."""

from pathlib import Path

from setuptools import setup

from diopi_proto.build import VendorLibrary, build_vendor_library
from dl_vendor_kit import include_dir

SOURCES = sorted(str(path) for path in Path("csrc").rglob("*.cpp"))


def version() -> str:
    """Return the package's version without importing it, since nothing of it is built yet."""
    text = Path("src/dl_vendor_async_test/_version.py").read_text(encoding="utf-8")
    return text.split('"')[1]


setup(
    ext_modules=[
        VendorLibrary(
            "dl_vendor_async_test.lib.libdl_vendor_async_test",
            sources=SOURCES,
            include_dirs=["csrc", "include", str(include_dir())],
            define_macros=[("DL_ASYNC_TEST_VERSION", f'"{version()}"')],
            # A test vendor is compiled far more often than it computes.
            extra_compile_args=["-O1", "-pthread"],
            # Streams run this code on threads: it must stay mapped after the host closes the
            # library.
            extra_link_args=["-pthread", "-Wl,-z,nodelete"],
        )
    ],
    cmdclass={"build_ext": build_vendor_library},
)
