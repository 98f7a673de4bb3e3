"""Cases of overloads that no OpInfo operator calls: those with a Python number as the second
operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing import make_tensor
from torch.testing._internal.opinfo.core import SampleInput

FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
SHAPES = ((), (7,), (3, 5), (2, 3, 4), (1, 0, 3))


def _transposed(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.permute(tuple(range(tensor.dim()))[::-1])


@dataclass(frozen=True)
class DirectCase:
    """The part of OpInfo's interface that the sweep uses.

    :ivar operands: number of tensors that the function takes.
    :ivar numbers: arguments after the tensors, one for each call.
    """

    name: str
    function: Callable[..., Any]
    dtypes: tuple[torch.dtype, ...] = INTEGERS + FLOATING
    operands: int = 1
    numbers: tuple[tuple[Any, ...], ...] = ((),)
    variant_test_name: str = ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def sample_inputs(
        self, device: str, dtype: torch.dtype, requires_grad: bool = False
    ) -> Iterator[SampleInput]:
        """Yield contiguous and transposed tensors of every shape with every number."""
        for shape in SHAPES:
            for transposed in (False, True):
                for number in self.numbers:
                    tensors = [
                        make_tensor(shape, device=device, dtype=dtype, low=0, high=6)
                        for _ in range(self.operands)
                    ]
                    if transposed:
                        tensors = [
                            tensor.permute(tuple(range(len(shape)))[::-1]) for tensor in tensors
                        ]
                    first, *others = tensors
                    yield SampleInput(first, args=(*others, *number))


_SECOND = ((2,), (0.5,), (True,))

CASES: dict[str, DirectCase] = {
    "_copy_from": DirectCase("_copy_from", lambda x: _transposed(x).contiguous()),
    "bitwise_and.Tensor": DirectCase("bitwise_and", torch.bitwise_and, INTEGERS, operands=2),
    "bitwise_not": DirectCase("bitwise_not", torch.bitwise_not, INTEGERS),
    "bitwise_or.Tensor": DirectCase("bitwise_or", torch.bitwise_or, INTEGERS, operands=2),
    "clamp": DirectCase("clamp", torch.clamp, numbers=((1, 4), (None, 3), (2, None), (1.5, 2.5))),
    "clamp_max": DirectCase("clamp_max", torch.clamp_max, numbers=((3,), (2.5,))),
    "clamp_min": DirectCase("clamp_min", torch.clamp_min, numbers=((3,), (2.5,))),
    "div.Tensor": DirectCase("div", torch.div, operands=2),
    "pow.Tensor_Scalar": DirectCase(
        "pow", torch.pow, FLOATING, numbers=((2,), (0.5,), (-1,), (3.0,))
    ),
    **{
        f"{name}.Scalar": DirectCase(name, getattr(torch, name), numbers=_SECOND)
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    },
}
