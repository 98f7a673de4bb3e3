"""Placeholders for Inductor's code generators. dl has none, so they raise an error.

Inductor looks up these names at its first use, as for any out-of-tree device, and this module is
imported only then. Without the names, ``torch.compile`` fails with ``KeyError: 'dl'``.
"""

from __future__ import annotations

from typing import Any, NoReturn

from torch._inductor.codegen.common import DeviceOpOverrides, register_device_op_overrides

from dl_core.torch_backend import DEVICE

_MESSAGE = (
    "[torch.compile] Inductor, the default backend, cannot generate code for dl devices. Use "
    'torch.compile(model, backend="aot_eager") or backend="eager", which run the graph with dl\'s '
    'operators, or install the wheel dl-dicp and use backend="dl", which compiles it.'
)


class NoCodeGenerator:
    """Placeholder for a code generator class."""

    supports_caching = False

    def __init__(self, *_: Any, **__: Any) -> None:
        _refuse()

    @classmethod
    def create(cls, *_: Any, **__: Any) -> NoReturn:
        """Raise an error; Inductor calls this first for a graph with dl tensors."""
        _refuse()


def _refuse() -> NoReturn:
    raise NotImplementedError(_MESSAGE)


register_device_op_overrides(DEVICE, DeviceOpOverrides())
CppWrapperCodegen = PythonWrapperCodegen = Scheduling = WrapperFxCodegen = NoCodeGenerator
