"""``torch.compile`` without a backend, for graphs of dl tensors.

Without a backend, or with the backend ``"inductor"``, ``torch.compile`` passes graphs to an object
of torch's class ``_TorchCompileInductorWrapper``. :mod:`.patches` wraps three of its methods by the
functions below: a graph with dl tensors goes to the backend ``"dl"`` of dl-dicp, and any other
graph to Inductor.

The extension points that torch offers do not suffice:

* Inductor's registration of a device (``register_backend_for_device``) replaces its code generators
  only. Its passes, lowerings and layouts assume a CPU or a GPU with Triton.
* ``torch._dynamo.backends.registry.set_default_backend`` does not apply to ``backend="inductor"``,
  replaces torch's object for CPU programs as well, and needs an import of Dynamo at the start of
  every program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from dl_core.torch_backend import DEVICE

ALTERNATIVES = (
    'torch.compile(model, backend="aot_eager") or backend="eager" runs the graph with dl\'s '
    "operators."
)
_MISSING = (
    "[torch.compile] Inductor, the default backend, cannot generate code for dl devices. The wheel "
    "dl-dicp compiles graphs of dl tensors instead, but it is not installed: `pip install "
    f"dl-dicp`. Without it, {ALTERNATIVES}"
)
_OWN = "_dl_options"
"""Attribute of torch's object with the options of the backend ``"dl"``."""


def call(original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``__call__``, which compiles a graph."""

    def compile_graph(self: Any, module: Any, inputs: Sequence[Any], **named: Any) -> Any:
        if self.compiler_name != "inductor" or not _has_dl(module, inputs):
            return original(self, module, inputs, **named)
        backend = _backend()
        if backend is None:
            raise NotImplementedError(_MISSING)
        settings = {**self.config, **(named.get("config_patches") or {})}
        return backend(module, inputs, options=_own_options(self), inductor=settings)

    return compile_graph


def apply_options(original: Callable[..., None]) -> Callable[..., None]:
    """Wrap ``apply_options``, which stores options, to accept those of the backend ``"dl"``."""

    def store_options(self: Any, options: Mapping[str, Any] | None) -> None:
        own = _select_own(options or {})
        if own:
            setattr(self, _OWN, {**_own_options(self), **own})
        original(self, {k: v for k, v in options.items() if k not in own} if options else options)

    return store_options


def equal(original: Callable[..., bool]) -> Callable[..., bool]:
    """Wrap ``__eq__``: Dynamo shares compiled code between equal objects."""

    def is_equal(self: Any, other: object) -> bool:
        return original(self, other) and _own_options(self) == _own_options(other)

    return is_equal


def _own_options(wrapper: object) -> dict[str, Any]:
    return getattr(wrapper, _OWN, {})


def _select_own(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that Inductor does not have and the backend ``"dl"`` has."""
    if not options:
        return {}
    from torch._inductor import config

    of_inductor = config.get_config_copy()
    others = {k: v for k, v in options.items() if k.replace("-", "_") not in of_inductor}
    names = getattr(_backend(), "option_names", ()) if others else ()
    return {name: value for name, value in others.items() if name in names}


def _backend() -> Callable[..., Any] | None:
    """Return the backend ``"dl"``; None if dl-dicp is not installed."""
    from torch._dynamo.backends.registry import lookup_backend
    from torch._dynamo.exc import InvalidBackend

    try:
        return lookup_backend(DEVICE)
    except InvalidBackend:
        return None


def _has_dl(module: Any, inputs: Sequence[Any]) -> bool:
    """Return True if a graph has dl tensors: inputs, constants, or values that it creates."""
    return any(
        isinstance(value, torch.Tensor) and value.device.type == DEVICE
        for value in _values(module, inputs)
    )


def _values(module: Any, inputs: Sequence[Any]) -> Iterator[Any]:
    yield from inputs
    if isinstance(module, torch.nn.Module):
        yield from module.parameters()
        yield from module.buffers()
    if isinstance(module, torch.fx.GraphModule):
        for node in module.graph.nodes:
            yield from tree_leaves(node.meta.get("example_value"))
