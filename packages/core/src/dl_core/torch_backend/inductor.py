"""What Inductor asks ``torch.dl`` for: its code generators. There are none, and that is said.

Inductor looks for these names when it is first used, as it does for any device of a plugin; nothing
of it is imported before. Without them, ``torch.compile`` ends in ``KeyError: 'dl'``.
"""

from __future__ import annotations

from typing import Any, NoReturn

from torch._inductor.codegen.common import DeviceOpOverrides, register_device_op_overrides

from dl_core.torch_backend import DEVICE

_MESSAGE = (
    "[torch.compile] Inductor, the default backend, generates no code for dl devices. "
    'torch.compile(model, backend="aot_eager") works, and so does backend="eager": both run the '
    'graph with dl\'s operators. With the wheel dl-dicp installed, backend="dl" compiles it.'
)


class NoCodeGenerator:
    """Stands for a code generator where Inductor wants a class of one."""

    supports_caching = False

    def __init__(self, *_: Any, **__: Any) -> None:
        _refuse()

    @classmethod
    def create(cls, *_: Any, **__: Any) -> NoReturn:
        """What Inductor calls first for a graph with dl tensors."""
        _refuse()


def _refuse() -> NoReturn:
    raise NotImplementedError(_MESSAGE)


register_device_op_overrides(DEVICE, DeviceOpOverrides())
CppWrapperCodegen = PythonWrapperCodegen = Scheduling = WrapperFxCodegen = NoCodeGenerator
