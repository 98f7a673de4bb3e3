"""A vendor for one test: compiled, and declared by a plugin, in a folder of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import diopi_proto

from .processes import path_with

WHEEL = "dl-vendor-stub 3.2"
FLAGS = ("-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror")

PLUGIN = """
from pathlib import Path
import pluggy
from diopi_proto.descriptor import VendorDescriptor

@pluggy.HookimplMarker("dl")
def dl_vendor():
    library = Path(__file__).parent / "libstub.so"
    return VendorDescriptor(
        name="stub",
        library=library,
        version="3.2",
        priority=20,
        legacy=LEGACY,
        adaptor=ADAPTOR and Path(__file__).parent / ADAPTOR,
    )
"""

TABLE = """
#include "dl/vendor.h"

extern "C" DL_EXPORT dl_status_t* dl_vendor_v1(const dl_host_t*, dl_vendor_t** out) {
  static dl_vendor_table_t table{};
  table.struct_size = sizeof table;
  table.name = "stub";
  table.destroy = [](dl_vendor_t* vendor) { delete vendor; };
SLOTS
  *out = new dl_vendor_t{&table};
  return nullptr;
}
"""


def table_source(**numbers: int) -> str:
    """Return the source of a library whose slots of these names write one number:
    ``device_count=3``."""
    slots = (
        f"  table.{slot} = [](dl_vendor_t*, int32_t* out) -> dl_status_t* "
        f"{{ return *out = {number}, nullptr; }};"
        for slot, number in numbers.items()
    )
    return TABLE.replace("SLOTS", "\n".join(slots))


class StubVendor:
    """The plugin ``stub`` in ``folder``; its library is missing until it is compiled.

    :param adaptor: text of its adaptor file.
    """

    def __init__(self, folder: Path, *, legacy: bool = False, adaptor: str | None = None) -> None:
        self.library = folder / "libstub.so"
        self._folder = folder
        file = None if adaptor is None else "adaptor.yaml"
        if file is not None:
            (folder / file).write_text(adaptor or "", encoding="utf-8")
        (folder / "dl_stub_plugin.py").write_text(f"LEGACY, ADAPTOR = {legacy}, {file!r}\n{PLUGIN}")
        info = folder / "dl_vendor_stub-3.2.dist-info"
        info.mkdir()
        info.joinpath("METADATA").write_text(
            "Metadata-Version: 2.1\nName: dl-vendor-stub\nVersion: 3.2\n"
        )
        info.joinpath("entry_points.txt").write_text("[dl]\nstub = dl_stub_plugin\n")

    def compile(self, source: Path | str) -> StubVendor:
        """Compile the library from a file, or from text."""
        if isinstance(source, str):
            path = self._folder / "stub.cpp"
            path.write_text(source)
            source = path
        compiler = os.environ.get("CXX") or shutil.which("c++") or "c++"
        include = f"-I{diopi_proto.include_dir()}"
        command = [*compiler.split(), *FLAGS, include, str(source), "-o", str(self.library)]
        subprocess.run(command, check=True)
        return self

    def variables(self, vendors: str = "stub") -> dict[str, str]:
        """Return the environment of a process that has this vendor, and does not cache library
        probes."""
        return {
            "PYTHONPATH": path_with(self._folder),
            "XDG_CACHE_HOME": str(self._folder / "cache"),
            "DL_VENDORS": vendors,
        }
