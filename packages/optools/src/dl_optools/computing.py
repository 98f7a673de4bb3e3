"""Classification of overloads: those that compute, and those that view or convert."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.call import OUR_MODES
from dl_optools.mode_stack import WithMode
from dl_optools.tensors import tensors_of

# All conversions of the Python interface (`to`, `half`, `type_as` ...) call these.
_CONVERSIONS = (torch.ops.aten._to_copy, torch.ops.aten.copy_)


def computes(overload: Overload[Any, Any]) -> bool:
    """Return False for views, metadata changes and conversions of values."""
    return not signature(overload).view and overload.overloadpacket not in _CONVERSIONS


def only_describes(function: Callable[..., Any], name: str) -> bool:
    """Return True if all overloads behind a function are views, according to its name.

    :param name: see :mod:`.names`.
    """
    if isinstance(function, Overload):
        return not computes(function)
    packet = getattr(torch.ops.aten, name.rpartition(".")[2], None)
    if not isinstance(packet, torch._ops.OpOverloadPacket):
        return False
    overloads = [getattr(packet, overload) for overload in packet.overloads()]
    # TorchScript has overloads for strings and lists under the same names.
    ours = [x for x in overloads if "Tensor" in (str(y.type) for y in x._schema.arguments[:1])]
    return bool(ours) and all(signature(overload).view for overload in ours)


class Recorder(WithMode):
    """Mode that records whether overloads compute, and which memory they write.

    :ivar computed: True if any overload computed.
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
            for tensor in tensors_of(signature(func).mutated_tensors(args, kwargs or {})):
                if tensor.layout == torch.strided:
                    self._written.add(tensor.untyped_storage()._cdata)
        return func(*args, **(kwargs or {}))

    def wrote_to(self, tensor: torch.Tensor) -> bool:
        """Return True if an overload that ran inside wrote to the memory of a tensor."""
        return tensor.layout == torch.strided and (tensor.untyped_storage()._cdata in self._written)


OUR_MODES.append(Recorder)
