"""Tensors that an operator returned, identified by their handles."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import OperatorError
from .cabi import ffi
from .context import CallContext
from .structs import CData, address
from .tensor import Tensor


def input_or_required(
    handle: CData, context: CallContext, inputs: Sequence[Tensor], operator: str, parameter: str
) -> Tensor:
    """Return the tensor for a handle that the operator stored.

    It is either a tensor that the operator has allocated or one of the operator's inputs.

    :raises OperatorError: the operator stored nothing, or an unknown handle.
    """
    found = context.required.get(address(handle))
    if found is None:
        found = next((t for t in inputs if t.handle == handle), None)
    if found is None:
        what = "no tensor" if handle == ffi.NULL else "a handle that this host did not create"
        vendor = context.instance.name
        raise OperatorError(
            f"[{operator}] returned success but stored {what} for {parameter} (vendor {vendor}); "
            "that is a defect of the vendor",
            code=0,
            operator=operator,
            vendor=vendor,
            reason=f"{what} for {parameter}",
        )
    return found


def required_array(
    handles: CData,
    count: int,
    context: CallContext,
    inputs: Sequence[Tensor],
    operator: str,
    parameter: str,
) -> list[Tensor]:
    """Return the tensors of ``count`` handles; see :func:`input_or_required`."""
    return [
        input_or_required(handles[index], context, inputs, operator, f"{parameter}[{index}]")
        for index in range(count)
    ]
