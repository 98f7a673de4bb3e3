"""Wheels that add operators to a vendor, compiled in a folder of the test's own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import diopi_proto

from .processes import path_with

SOURCE = Path(__file__).with_name("added_operators.c")
FLAGS = ("-std=c11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror")

PLUGIN = """
from pathlib import Path
import pluggy
from diopi_proto.descriptor import AddedOperators

@pluggy.HookimplMarker("dl")
def dl_operators():
    library = Path(__file__).parent / "LIBRARY"
    return [AddedOperators("NAME", "VENDOR", library, PRIORITY)]
"""


class AddedWheels:
    """Wheels with added operators in ``folder``, which child processes see as installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(
        self,
        name: str,
        *macros: str,
        vendor: str = "cpu",
        priority: int = 0,
        compiled: bool = True,
    ) -> AddedWheels:
        """Install the wheel ``dl-NAME 1.0`` with the plugin NAME.

        :param macros: macros of ``added_operators.c``: ``"MARK=1000"``.
        :param compiled: False: the wheel lacks its library.
        """
        library = f"lib{name}.so"
        if compiled:
            flags = [*FLAGS, f"-I{diopi_proto.include_dir()}", *(f"-D{each}" for each in macros)]
            compiler = os.environ.get("CC", "cc").split()
            command = [*compiler, *flags, str(SOURCE), "-o", str(self.folder / library)]
            subprocess.run(command, check=True)
        text = PLUGIN.replace("LIBRARY", library).replace("NAME", name).replace("VENDOR", vendor)
        text = text.replace("PRIORITY", str(priority))
        (self.folder / f"dl_{name}_plugin.py").write_text(text)
        info = self.folder / f"dl_{name}-1.0.dist-info"
        info.mkdir()
        info.joinpath("METADATA").write_text(
            f"Metadata-Version: 2.1\nName: dl-{name}\nVersion: 1.0\n"
        )
        info.joinpath("entry_points.txt").write_text(f"[dl]\n{name} = dl_{name}_plugin\n")
        return self

    def variables(self, vendors: str = "cpu", **more: str) -> dict[str, str]:
        """Return the environment of a process with these wheels, without cached trials."""
        cache = str(self.folder / "cache")
        return {
            "PYTHONPATH": path_with(self.folder),
            "XDG_CACHE_HOME": cache,
            "DL_VENDORS": vendors,
            **more,
        }
