"""Which of a function's overloads compute, and which describe memory or convert values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from dl_core.torch_backend.judging.schema import Overload, signature
from dl_optools.call import OUR_MODES
from dl_optools.mode_stack import WithMode
from dl_optools.tensors import tensors_of

# All conversions of Python's interface (`to`, `half`, `type_as` ...) end in these.
_CONVERSIONS = (torch.ops.aten._to_copy, torch.ops.aten.copy_)


def computes(overload: Overload[Any, Any]) -> bool:
    """False for views, for changes of a tensor's description, and for conversions of its values."""
    return not signature(overload).view and overload.overloadpacket not in _CONVERSIONS


def only_describes(function: Callable[..., Any], name: str) -> bool:
    """Whether all overloads behind a function are views, as far as its name tells.

    :param name: see :mod:`.names`.
    """
    if isinstance(function, Overload):
        return not computes(function)
    packet = getattr(torch.ops.aten, name.rpartition(".")[2], None)
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return False
    overloads = [getattr(packet, overload) for overload in packet.overloads()]
    # TorchScript has some of strings and lists under the same names.
    ours = [x for x in overloads if "Tensor" in (str(y.type) for y in x._schema.arguments[:1])]
    return bool(ours) and all(signature(overload).view for overload in ours)


class Recorder(WithMode):
    """What runs inside: does it compute, and which memory does it write to?

    :ivar computed: whether any overload did.
    """

    supports_higher_order_operators = True

    def __init__(self) -> None:
        super().__init__()
        self.computed = False
        self._written: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not isinstance(func, Overload):
            self.computed = True
        else:
            self.computed |= computes(func)
            for tensor in tensors_of(signature(func).written_tensors(args, kwargs or {})):
                if tensor.layout == torch.strided:
                    self._written.add(tensor.untyped_storage()._cdata)
        return func(*args, **(kwargs or {}))

    def wrote_to(self, tensor: torch.Tensor) -> bool:
        """Whether anything that ran inside wrote to a tensor's memory."""
        return tensor.layout == torch.strided and (tensor.untyped_storage()._cdata in self._written)


OUR_MODES.append(Recorder)
