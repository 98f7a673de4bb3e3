"""Cache of verified contract graphs by their content, and the executor that runs them.

Equal parts of models, such as layers that graph breaks separate, are verified and stored once. The
cache is local to the process.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cache

from dl_dicp.statistics import statistics
from dl_graph import ContractGraph, read
from dl_graph.native import ffi, native

MOST_GRAPHS = 256
"""Maximum number of cached graphs. Graphs in use stay alive after they leave the cache."""

_graphs: OrderedDict[str, CachedGraph] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class CachedGraph:
    """Verified graph.

    :ivar address: address of its ``dl_contract_graph_t``, valid as long as this object lives.
    :ivar passed: symbols that are not a size of any input, so that the caller passes their values.
    """

    graph: ContractGraph
    address: int
    passed: tuple[str, ...]


def graph_of(content: bytes, text: str) -> CachedGraph:
    """Return the verified graph of a file's bytes.

    :param text: canonical text of the graph, the key of the cache.
    :raises GraphError: the verifier rejects the graph.
    """
    key = hashlib.sha256(text.encode()).hexdigest()
    with _lock:
        found = _graphs.get(key)
        if found is not None:
            _graphs.move_to_end(key)
            statistics.count(cache_hits=1)
            return found
    graph = read(content, f"graph {key[:12]}")
    made = CachedGraph(graph, int(ffi.cast("uintptr_t", graph.handle)), _passed(graph))
    with _lock:
        _graphs[key] = made
        while len(_graphs) > MOST_GRAPHS:
            _graphs.popitem(last=False)
    return made


def _passed(graph: ContractGraph) -> tuple[str, ...]:
    entry = graph.entry(graph.entries[0])
    shapes = [entry["values"][port["value"]]["shape"] for port in entry["inputs"]]
    alone = {size for shape in shapes for size in shape if isinstance(size, str)}
    return tuple(s["name"] for s in entry["symbols"] if s["name"] not in alone)


def clear() -> None:
    """Clear the cache; graphs in use stay alive."""
    with _lock:
        _graphs.clear()


@cache
def executor(engine: str) -> tuple[int, int, int, int]:
    """Return the addresses of the executor's functions for ``dl_core._C.ContractProgram``.

    :param engine: ``"contract"`` or ``"tiled"``, as :attr:`.Engine.executor`.
    """
    library = native()
    open_, close, run, generator = (
        int(ffi.cast("uintptr_t", function))
        for function in (
            library.dl_contract_session_open
            if engine == "tiled"
            else library.dl_contract_session_open_whole,
            library.dl_contract_session_close,
            library.dl_contract_session_run,
            library.dl_contract_session_generator,
        )
    )
    return open_, close, run, generator
