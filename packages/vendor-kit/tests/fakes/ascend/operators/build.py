"""Build the fake operator library: libnnopbase.so, and libopapi.so or its parts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import building

from diopi_proto import include_dir as contract_dir

from .generate import MEANINGS, SHARES, STRUCTURE, export_script, generate, share_of

HERE = Path(__file__).parent
_SOURCES = ("objects", "numbers", "binding", "overlap", "executor", "running")


def build_operators(
    folder: Path,
    *,
    runtime: Path,
    split: bool = False,
    missing: Iterable[str] = (),
    base: Path | None = None,
) -> Path:
    """Build the libraries into ``folder`` and return it.

    The operators compute with the contract library that FAKE_ENGINE names when a program
    first calls them.

    :param runtime: the fake libascendcl.so, which the libraries need.
    :param split: build libopapi_math.so and its like instead of libopapi.so.
    :param missing: functions that libopapi does not export.
    :param base: a libnnopbase.so that was built before; default: build it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    functions = generate(folder)
    folders = (folder, HERE, STRUCTURE, contract_dir())
    if base is None:
        sources = [HERE / f"{name}.cpp" for name in _SOURCES]
        sources += [folder / "dispatch.gen.cpp", *sorted(MEANINGS.glob("*.cpp"))]
        sources += sorted(building.COMPUTING.glob("*.cpp"))
        objects = building.compile_sources(sources, folder, folders, "-Werror")
        base = building.link(objects, folder / "libnnopbase.so", str(runtime))
    entries = building.compile_source(
        STRUCTURE / "functions.gen.cpp", folder / "entries.o", folders, "-Werror"
    )
    exported = [name for name in functions if name not in set(missing)]
    libraries = {"libopapi": exported}
    if split:
        libraries = {
            f"libopapi_{share}": [name for name in exported if share_of(name) == share]
            for share in SHARES
        }
    for library, names in libraries.items():
        script = folder / f"{library}.map"
        script.write_text(export_script(names), encoding="utf-8")
        option = f"-Wl,--version-script={script}"
        building.link([entries], folder / f"{library}.so", str(base), option)
    return folder
