"""DICP's names of backends of ``torch.compile``: ``ascendgraph`` and ``topsgraph``.

In DICP they compile for one vendor's graph compiler. Here they are the backend ``dl`` on the vendor
that is installed; scripts need no change.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.fx import GraphModule

from diopi_proto.text import write_error
from dl_core import _C
from dl_dicp.backend import dl

VENDORS: Mapping[str, str] = {"ascendgraph": "ascend", "topsgraph": "tops"}
"""Vendor of each backend in DICP."""
_WHOLE_GRAPH = "capture"
"""Engine that comes closest to a vendor's graph compiler: it launches a graph at once."""


def ascendgraph(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compile a Dynamo graph with the backend ``dl``; see :func:`dl_dicp.backend.dl`.

    On the vendor ``ascend``, graphs are captured as ACL graphs unless an option selects another
    engine.
    """
    return _compile("ascendgraph", module, example_inputs, options, mode)


def topsgraph(
    module: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compile a Dynamo graph with the backend ``dl``, as :func:`ascendgraph`."""
    return _compile("topsgraph", module, example_inputs, options, mode)


def _compile(
    name: str,
    module: GraphModule,
    example_inputs: Sequence[Any],
    options: Mapping[str, Any] | None,
    mode: str | None,
) -> Callable[..., Any]:
    vendor: str = _C.device_info(_C.current_device())["vendor"]
    chosen = dict(options or {})
    if vendor == VENDORS[name]:
        chosen.setdefault("engine", _WHOLE_GRAPH)
    _announce(name, vendor, chosen.get("engine", ""))
    return dl(module, example_inputs, options=chosen, mode=mode)


@functools.cache
def _announce(name: str, vendor: str, engine: str) -> None:
    """Write one line on stderr, once in a process."""
    by = f", engine {engine!r}" if engine else ""
    write_error(f"dl-dicp: backend {name!r} is backend 'dl' here, on vendor {vendor!r}{by}\n")
