"""The faulty vendor: compiled, and declared by a plugin, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import diopi_proto

SOURCE = Path(__file__).with_name("vendor.cpp")
FLAGS = ("-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror")
NAME = "faulty"

_PLUGIN = """
from pathlib import Path
import pluggy
from diopi_proto.descriptor import VendorDescriptor

@pluggy.HookimplMarker("dl")
def dl_vendor():
    library = Path(__file__).with_name("libfaulty.so")
    return VendorDescriptor(name="faulty", library=library, version="1", priority=20)
"""


class FaultyVendor:
    """Forwards to a vendor's library; see vendor.cpp.

    :param folder: folder for the library, its plugin and cached trials.
    :param library: library to which it forwards.
    :param operators: contract operators that can be corrupted.
    :raises subprocess.CalledProcessError: compilation fails.
    """

    def __init__(self, folder: Path, library: Path, operators: Iterable[str]) -> None:
        self._folder, self._library = folder, library
        folder.mkdir(parents=True, exist_ok=True)
        names = "".join(f"DL_SPOILT({name})\n" for name in sorted(set(operators)))
        (folder / "spoilt.inc").write_text(names, encoding="utf-8")
        (folder / "dl_faulty_plugin.py").write_text(_PLUGIN, encoding="utf-8")
        info = folder / f"dl_vendor_{NAME}-1.dist-info"
        info.mkdir(exist_ok=True)
        metadata = f"Metadata-Version: 2.1\nName: dl-vendor-{NAME}\nVersion: 1\n"
        info.joinpath("METADATA").write_text(metadata, encoding="utf-8")
        entry = f"[dl]\n{NAME} = dl_faulty_plugin\n"
        info.joinpath("entry_points.txt").write_text(entry, encoding="utf-8")
        compiler = os.environ.get("CXX") or shutil.which("c++") or "c++"
        includes = (f"-I{diopi_proto.include_dir()}", f"-I{folder}")
        output = folder / f"lib{NAME}.so"
        command = [*compiler.split(), *FLAGS, *includes, str(SOURCE), "-o", str(output), "-ldl"]
        subprocess.run(command, check=True)

    def variables(self, fault: str = "", log: Path | None = None) -> dict[str, str]:
        """Return the environment of a process whose only device is this vendor's.

        :param fault: ``operator,argument,kind``; empty: no fault.
        :param log: gets a line when the fault first occurs.
        """
        before = os.environ.get("PYTHONPATH")
        return {
            "PYTHONPATH": os.pathsep.join(filter(None, (str(self._folder), before))),
            "XDG_CACHE_HOME": str(self._folder / "cache"),
            "DL_VENDORS": NAME,
            "DL_FAULT_LIBRARY": str(self._library),
            "DL_FAULT": fault,
            "DL_FAULT_LOG": "" if log is None else str(log),
        }
