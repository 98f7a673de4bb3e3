"""TorchScript for programs written for CUDA.

TorchScript compiles the source of a function without calling the replacements of :mod:`.table`.
Therefore the replaced names must map to torch's operators, and the devices in the graph are
translated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch.jit import _builtins

from dl_core.torch_backend import DEVICE
from dl_core.torch_backend.mock_cuda.names import location_to_dl, to_dl
from dl_core.torch_backend.mock_cuda.replacing import translate_calls

_REWRITTEN = (
    (
        """
graph(%x):
  %r = aten::cuda(%x)
  return (%r)
""",
        f"""
graph(%x):
  %device : Device = prim::Constant[value="{DEVICE}"]()
  %no : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %r = aten::to(%x, %device, %none, %no, %no)
  return (%r)
""",
    ),
    (
        """
graph(%x):
  %r : bool = prim::is_cuda(%x)
  return (%r)
""",
        f"""
graph(%x):
  %device : Device = prim::device(%x)
  %type : str = prim::type(%device)
  %name : str = prim::Constant[value="{DEVICE}"]()
  %r : bool = aten::eq(%type, %name)
  return (%r)
""",
    ),
)
"""Pairs of one-operation graphs: an operation, and its replacement."""


class Builtins:
    """Operators of TorchScript under the names that are replaced while CUDA is mocked."""

    def __init__(self, replaced: Iterable[tuple[Any, Any]]) -> None:
        """
        :param replaced: original values and replacements.
        """
        table = _builtins._get_builtin_table()
        # Keep references to the replacements, because the table has their addresses as keys.
        self._added = [(new, table[id(old)]) for old, new in replaced if id(old) in table]

    def apply(self) -> None:
        for value, operator in self._added:
            _builtins._register_builtin(value, operator)

    def undo(self) -> None:
        table = _builtins._get_builtin_table()
        for value, _ in self._added:
            table.pop(id(value), None)


def _graphs(scripted: Any) -> Iterator[Any]:
    if isinstance(scripted, torch.jit.ScriptFunction):
        yield scripted.graph
    elif isinstance(scripted, torch.jit.ScriptModule):
        for part in scripted.modules():
            compiled: Any = getattr(part, "_c", None)
            for name in () if compiled is None else compiled._method_names():
                yield compiled._get_method(name).graph


def _translate(graph: Any) -> None:
    """Replace the CUDA devices in a graph with dl devices."""
    devices = {node for node in graph.findAllNodes("prim::Constant") if _type(node) == "Device"}
    for call in graph.findAllNodes("aten::device"):
        devices.update(value.node() for value in call.inputs() if _type(value.node()) == "str")
    for node in devices:
        if node.kind() == "prim::Constant" and node.hasAttribute("value"):
            node.s_("value", to_dl(node.s("value")))
    for before, after in _REWRITTEN:
        torch._C._jit_pass_custom_pattern_based_rewrite_graph(before, after, graph)


def _type(node: Any) -> str:
    return str(node.output().type()) if node.outputsSize() == 1 else ""


def _with_devices(compiled: Any) -> Any:
    for graph in _graphs(compiled):
        _translate(graph)
    return compiled


def _translated_script(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def script(obj: Any, optimize: Any = None, _frames_up: int = 0, **kwargs: Any) -> Any:
        return _with_devices(original(obj, optimize, _frames_up + 1, **kwargs))

    return script


def _translated_load(original: Callable[..., Any]) -> Callable[..., Any]:
    read = translate_calls(original, location_to_dl, 1)

    @functools.wraps(original)
    def load(*args: Any, **kwargs: Any) -> Any:
        return _with_devices(read(*args, **kwargs))

    return load


script = _translated_script(torch.jit.script)
load = _translated_load(torch.jit.load)
