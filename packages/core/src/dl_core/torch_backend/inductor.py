"""Placeholders for Inductor's code generators. dl has none, so they raise an error.

Inductor looks up these names at its first use, as for any out-of-tree device, and this module is
imported only then. ``torch.compile`` does not pass graphs of dl tensors to Inductor
(:mod:`.default_compiler`), but other functions of torch do. Without the names, they fail with
``KeyError: 'dl'``.
"""

from __future__ import annotations

from typing import Any, NoReturn

from torch._inductor.codegen.common import DeviceOpOverrides, register_device_op_overrides

from dl_core.torch_backend import DEVICE
from dl_core.torch_backend.default_compiler import ALTERNATIVES

_MESSAGE = (
    "[torch.compile] Inductor cannot generate code for dl devices. torch.compile(model) without a "
    "backend compiles graphs of dl tensors with the wheel dl-dicp; a direct call of Inductor, or "
    f"AOTInductor, does not. {ALTERNATIVES}"
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
