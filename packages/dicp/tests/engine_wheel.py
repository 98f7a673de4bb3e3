"""Wheel with a graph engine, installed for one test: elementwise sums and products by numpy."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dl_dicp.engines import registry
from dl_dicp.patterns.registry import all_patterns

SOURCE = '''
"""Runs diopiAdd and diopiMul of contiguous float32 tensors of one shape, in memory of the host."""

import json

import numpy as np
import pluggy
from cffi import FFI

from dl_core.contributions import Contribution

FUNCTIONS = {"diopiAdd": np.add, "diopiMul": np.multiply}


class Engine:
    version = "1.2"

    def accepts(self, graph):
        entry = graph["entries"]["main"]
        return [self.fits(entry, *call) for call in entry["calls"]]

    def fits(self, entry, operator, arguments):
        if operator not in FUNCTIONS or arguments.get("alpha", {"value": 1})["value"] != 1:
            return False
        names = ("out", "input", "other")
        three = [dict(entry["values"][arguments[x]], name="", storage=0) for x in names]
        return three[0] == three[1] == three[2] and three[0]["offset"] == 0

    def compile(self, graph):
        return json.dumps(graph["entries"]["main"]).encode()

    def load(self, code):
        entry = json.loads(code)
        ffi = FFI()
        sizes = [storage["bytes"] for storage in entry["storages"]]
        outside = [i for i, x in enumerate(entry["storages"]) if x["kind"] != "temp"]

        def run(addresses, stream):
            memory = {i: bytearray(sizes[i]) for i in range(len(sizes)) if i not in outside}
            for i, address in zip(outside, addresses, strict=True):
                memory[i] = ffi.buffer(ffi.cast("char*", address), sizes[i])
            arrays = {i: np.frombuffer(x, np.float32) for i, x in memory.items()}
            for operator, arguments in entry["calls"]:
                out, a, b = (
                    arrays[entry["values"][arguments[name]]["storage"]]
                    for name in ("out", "input", "other")
                )
                FUNCTIONS[operator](a, b, out=out)

        return run


def load():
    return Engine()


@pluggy.HookimplMarker("dl")
def dl_graph_engines():
    return [Contribution("toy", "Sums and products by numpy.", load)]
'''


@contextmanager
def installed(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: tuple[str, str] = ("", ""),
    source: str = SOURCE,
) -> Iterator[None]:
    """Context manager that puts a wheel on the path of this process, as installed by pip.

    :param change: text of its source, and the replacement.
    """
    assert change[0] in source
    module = f"toy_wheel_{abs(hash((change, source))):x}"
    (folder / f"{module}.py").write_text(textwrap.dedent(source.replace(*change)))
    information = folder / "dl_toy_wheel-1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: dl-toy-wheel\nVersion: 1.2\n"
    )
    (information / "entry_points.txt").write_text(f"[dl]\ntoy = {module}\n")
    monkeypatch.syspath_prepend(str(folder))
    registry.forget()
    all_patterns.cache_clear()
    try:
        yield
    finally:
        monkeypatch.undo()
        registry.forget()
        all_patterns.cache_clear()
