"""Cases of functions that compute each element from the elements at its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from .case import OUT, Case, Ref, booleans, case, positive, real, t, whole

# Functions of one tensor, with torch's name if it differs, and whether inputs must be in (0, 1).
_UNARY = {
    "Abs": False, "Acos": True, "Acosh": None, "Asin": True, "Asinh": False, "Atan": False,
    "Atanh": True, "Ceil": False, "Cos": False, "Cosh": False, "Digamma": True, "Erf": False,
    "Erfinv": True, "Exp": False, "Expm1": False, "Floor": False, "Lgamma": True, "Log": True,
    "Log10": True, "Log1p": True, "Log2": True, "Neg": False, "Reciprocal": True, "Relu": False,
    "Round": False, "Rsqrt": True, "Sigmoid": False, "Sign": False, "Sin": False, "Sinh": False,
    "Sqrt": True, "Tan": False, "Tanh": False,
}  # fmt: skip
_INPLACE = (
    "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Erfinv",
    "Exp", "Expm1", "Floor", "Log", "Log10", "Log1p", "Log2", "Neg", "Reciprocal", "Relu", "Rsqrt",
    "Sigmoid", "Sin", "Sinh", "Sqrt", "Tan", "Tanh",
)  # fmt: skip


def _input(kind: bool | None) -> Any:
    if kind is None:
        return positive(3, 4) + 1
    return positive(3, 4) if kind else real(3, 4)


def _compare() -> Iterator[Case]:
    x, y = whole(4, 3, 4).astype("float32"), whole(4, 3, 4).astype("float32")
    for name in "Eq", "Ne", "Gt", "Ge", "Lt", "Le":
        compare = getattr(torch, name.lower())
        yield case(f"{name}Tensor", [x, y, OUT], compare(t(x), t(y)))
        yield case(f"{name}Scalar", [x, 2.0, OUT], compare(t(x), 2.0))
        yield case(f"Inplace{name}Tensor", [Ref(x), y], compare(t(x), t(y)).float())
        yield case(f"Inplace{name}Scalar", [Ref(x), 2.0], compare(t(x), 2.0).float())


def _bits() -> Iterator[Case]:
    a, b = booleans(3, 4), booleans(3, 4)
    m, n = whole(64, 3, 4), whole(64, 3, 4)
    for name in "And", "Or":
        logical = getattr(torch, f"logical_{name.lower()}")(t(a), t(b))
        yield case(f"Logical{name}", [a, b, OUT], logical)
        yield case(f"InplaceLogical{name}", [Ref(a), b], logical)
        bitwise = getattr(torch, f"bitwise_{name.lower()}")
        yield case(f"Bitwise{name}Tensor", [m, n, OUT], bitwise(t(m), t(n)))
        yield case(f"Bitwise{name}Scalar", [m, 21, OUT], bitwise(t(m), 21))
        yield case(f"InplaceBitwise{name}Tensor", [Ref(m), n], bitwise(t(m), t(n)))
        yield case(f"InplaceBitwise{name}Scalar", [Ref(m), 21], bitwise(t(m), 21))
    yield case("LogicalNot", [a, OUT], ~t(a))
    yield case("InplaceLogicalNot", [Ref(a)], ~t(a))
    yield case("BitwiseNot", [m, OUT], ~t(m))


def _arithmetic() -> Iterator[Case]:
    x, y, z = real(3, 4), real(3, 4), real(3, 4)
    p, row = positive(3, 4), real(4)
    yield case("Add", [x, row, 3.0, OUT], torch.add(t(x), t(row), alpha=3))
    yield case("InplaceAdd", [Ref(x), y, 3.0], torch.add(t(x), t(y), alpha=3))
    yield case("Adds", [x, 5.0, 3.0, OUT], t(x) + 15)
    yield case("InplaceAdds", [Ref(x), 5.0, 3.0], t(x) + 15)
    yield case("Sub", [x, row, 3.0, OUT], torch.sub(t(x), t(row), alpha=3))
    yield case("InplaceSub", [Ref(x), y, 3.0], torch.sub(t(x), t(y), alpha=3))
    yield case("Subs", [x, 5.0, 3.0, OUT], t(x) - 15)
    yield case("InplaceSubs", [Ref(x), 5.0, 3.0], t(x) - 15)
    yield case("Mul", [x, row, OUT], t(x) * t(row))
    yield case("InplaceMul", [Ref(x), row], t(x) * t(row))
    yield case("Muls", [x, 5.0, OUT], t(x) * 5)
    yield case("InplaceMuls", [Ref(x), 5.0], t(x) * 5)
    yield case("Div", [x, p, OUT], t(x) / t(p))
    yield case("InplaceDiv", [Ref(x), p], t(x) / t(p))
    yield case("Divs", [x, 5.0, OUT], t(x) / 5)
    yield case("InplaceDivs", [Ref(x), 5.0], t(x) / 5)
    yield case("RemainderTensorTensor", [x, p, OUT], torch.remainder(t(x), t(p)))
    yield case("RemainderTensorScalar", [x, 0.7, OUT], torch.remainder(t(x), 0.7))
    yield case("RemainderScalarTensor", [5.0, p, OUT], torch.remainder(torch.tensor(5.0), t(p)))
    yield case("PowTensorTensor", [p, x, OUT], torch.pow(t(p), t(x)))
    yield case("PowTensorScalar", [p, 3.0, OUT], t(p) ** 3)
    yield case("PowScalarTensor", [3.0, x, OUT], 3 ** t(x))
    yield case("InplacePowTensorTensor", [Ref(p), x], torch.pow(t(p), t(x)))
    yield case("InplacePowTensorScalar", [Ref(p), 3.0], t(p) ** 3)
    yield case("Maximum", [x, y, OUT], torch.maximum(t(x), t(y)))
    yield case("Minimum", [x, y, OUT], torch.minimum(t(x), t(y)))
    yield case("Atan2", [x, y, OUT], torch.atan2(t(x), t(y)))
    yield case("Addcmul", [x, y, z, 3.0, OUT], torch.addcmul(t(x), t(y), t(z), value=3))
    yield case("InplaceAddcmul", [Ref(x), y, z, 3.0], torch.addcmul(t(x), t(y), t(z), value=3))
    yield case("Addcdiv", [x, y, p, 3.0, OUT], torch.addcdiv(t(x), t(y), t(p), value=3))
    yield case("InplaceAddcdiv", [Ref(x), y, p, 3.0], torch.addcdiv(t(x), t(y), t(p), value=3))
    yield case("Lerp", [x, y, p, OUT], torch.lerp(t(x), t(y), t(p)))
    yield case("Lerps", [x, y, 0.3, OUT], torch.lerp(t(x), t(y), 0.3))
    yield case("InplaceLerps", [Ref(x), y, 0.3], torch.lerp(t(x), t(y), 0.3))


def _selection() -> Iterator[Case]:
    x, y, mask = real(3, 4), real(3, 4), booleans(3, 4)
    low, high = real(3, 4) - 1, real(3, 4) + 1
    yield case("Clamp", [x, -0.3, 0.6, OUT], t(x).clamp(-0.3, 0.6))
    yield case("ClampMin", [x, -0.3, OUT], t(x).clamp(min=-0.3))
    yield case("ClampMax", [x, 0.6, OUT], t(x).clamp(max=0.6))
    yield case("ClampTensor", [x, low, high, OUT], t(x).clamp(t(low), t(high)))
    yield case("ClampMinTensor", [x, y, OUT], t(x).clamp(min=t(y)))
    yield case("ClampMaxTensor", [x, y, OUT], t(x).clamp(max=t(y)))
    yield case("InplaceClampMax", [Ref(x), 0.6], t(x).clamp(max=0.6))
    yield case("InplaceClampMaxTensor", [Ref(x), y], t(x).clamp(max=t(y)))
    yield case("InplaceClampMinTensor", [Ref(x), y], t(x).clamp(min=t(y)))
    yield case("SWhere", [mask, x, y, OUT], torch.where(t(mask), t(x), t(y)))
    yield case("InplaceMaskedFillScalar", [Ref(x), mask, 5.0], t(x).masked_fill(t(mask), 5))
    five = np.array(5, "float32")
    filled = t(x).masked_fill(t(mask), 5)
    yield case("InplaceMaskedFillTensor", [Ref(x), mask, five], filled)
    yield case("InplaceFillScalar", [Ref(x), 5.0], t(x) * 0 + 5)
    yield case("InplaceOne", [Ref(x)], t(x) * 0 + 1)
    yield case("InplaceZero", [Ref(x)], t(x) * 0)
    yield case("InplaceCopy", [Ref(x), y], t(y))
    yield case("Cast", [x, "int32", OUT], t(x).int())
    yield case("Complex", [x, y, OUT], torch.complex(t(x), t(y)))
    yield case("Polar", [x, y, OUT], torch.polar(t(x), t(y)))
    yield case("Real", [torch.complex(t(x), t(y)).numpy(), OUT], t(x))


def _activations() -> Iterator[Case]:
    x, g = real(3, 4) * 2, real(3, 4)

    def gradient(function: Any) -> torch.Tensor:
        leaf = t(x).requires_grad_()
        function(leaf).backward(t(g))
        assert leaf.grad is not None
        return leaf.grad

    def smooth_leaky(v: torch.Tensor) -> torch.Tensor:
        return functional.leaky_relu(v, 0.2)

    yield case("Silu", [x, OUT], functional.silu(t(x)))
    yield case("SiluBackward", [g, x, OUT], gradient(functional.silu))
    yield case("Mish", [x, OUT], functional.mish(t(x)))
    yield case("MishBackward", [g, x, OUT], gradient(functional.mish))
    yield case("SigmoidBackward", [g, t(x).sigmoid().numpy(), OUT], gradient(torch.sigmoid))
    yield case("TanhBackward", [g, t(x).tanh().numpy(), OUT], gradient(torch.tanh))
    yield case("GeluV2", [x, 0, OUT], functional.gelu(t(x)))
    yield case("GeluV2", [x, 1, OUT], functional.gelu(t(x), approximate="tanh"))
    for way in "none", "tanh":
        of_gelu = gradient(lambda v, way=way: functional.gelu(v, approximate=way))
        yield case("GeluBackwardV2", [g, x, way, OUT], of_gelu)
    yield case("LeakyRelu", [x, 0.2, OUT], smooth_leaky(t(x)))
    yield case("InplaceLeakyRelu", [Ref(x), 0.2], smooth_leaky(t(x)))
    yield case("LeakyReluBackward", [g, x, 0.2, False, OUT], gradient(smooth_leaky))
    yield case("Threshold", [x, 0.3, 7.0, OUT], functional.threshold(t(x), 0.3, 7))
    yield case("InplaceThreshold", [Ref(x), 0.3, 7.0], functional.threshold(t(x), 0.3, 7))
    yield case(
        "ThresholdBackward", [g, x, 0.3, OUT], gradient(lambda v: functional.threshold(v, 0.3, 7))
    )
    yield case("Hardtanh", [x, -0.3, 0.6, OUT], functional.hardtanh(t(x), -0.3, 0.6))
    yield case("InplaceHardtanh", [Ref(x), -0.3, 0.6], functional.hardtanh(t(x), -0.3, 0.6))
    of_tanh = gradient(lambda v: functional.hardtanh(v, -0.3, 0.6))
    yield case("HardtanhBackward", [g, x, -0.3, 0.6, OUT], of_tanh)
    yield case("Hardswish", [x, OUT], functional.hardswish(t(x)))
    yield case("InplaceHardswish", [Ref(x)], functional.hardswish(t(x)))
    yield case("HardswishBackward", [g, x, OUT], gradient(functional.hardswish))
    yield case("Hardsigmoid", [x, OUT], functional.hardsigmoid(t(x)))
    yield case("HardsigmoidBackward", [g, x, OUT], gradient(functional.hardsigmoid))
    yield case("Hardshrink", [x, 0.4, OUT], functional.hardshrink(t(x), 0.4))
    yield case(
        "HardshrinkBackward", [g, x, 0.4, OUT], gradient(lambda v: functional.hardshrink(v, 0.4))
    )
    yield case("Softshrink", [x, 0.4, OUT], functional.softshrink(t(x), 0.4))
    elu = torch.ops.aten.elu(t(x), 1.5, 0.7, 1.2)
    yield case("Elu", [x, 1.5, 0.7, 1.2, OUT], elu)
    back = torch.ops.aten.elu_backward
    for result, value in (False, t(x)), (True, elu):
        arguments = [g, 1.5, 0.7, 1.2, result, value.numpy(), OUT]
        yield case("EluBackward", arguments, back(t(g), 1.5, 0.7, 1.2, result, value))
    yield case("Softplus", [x, 2.0, 1.5, OUT], functional.softplus(t(x), 2, 1.5))
    of_plus = gradient(lambda v: functional.softplus(v, 2, 1.5))
    yield case("SoftplusBackward", [g, x, 2.0, 1.5, OUT], of_plus)
    buffer = t(x).abs().neg().exp()
    yield case("LogSigmoidForward", [x, OUT, OUT], functional.logsigmoid(t(x)), buffer)
    yield case("LogSigmoidBackward", [g, x, buffer.numpy(), OUT], gradient(functional.logsigmoid))


def cases() -> Iterator[Case]:
    """Return the cases."""
    for name, kind in _UNARY.items():
        x = _input(kind)
        function = getattr(torch, name.lower())
        yield case(name, [x, OUT], function(t(x)))
        if name in _INPLACE:
            yield case(f"Inplace{name}", [Ref(x)], function(t(x)))
    for group in _compare, _bits, _arithmetic, _selection, _activations:
        yield from group()
