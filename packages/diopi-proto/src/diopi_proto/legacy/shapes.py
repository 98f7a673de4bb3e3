"""Shapes that the operators of the contract require, for :mod:`.rules`.

Libraries in DIOPI's own style rely on their host for these checks: a wrong shape would be read or
written out of bounds. An operator without an entry is checked as far as the schema goes: required
tensors and dtypes, and shapes of inputs that its output may share memory with.

Clauses are separated by ``;`` and tested in their order:

- ``input [n, k]``: the sizes of a tensor, or the values of a ``diopiSize_t``. A name stands for one
  size and ``*name`` for any number of sizes; each has the same value wherever it occurs in the
  operator. ``_`` is any size. Absent optional tensors are not tested.
- ``bias ~ [n, m]``: the tensor broadcasts to these sizes, which earlier clauses determine.
- ``mean holds [*b]``: the tensor has as many elements as these sizes, in any shape.
- ``dim of input``: the integer is a dimension of the tensor, or all values of the ``diopiSize_t``
  are different ones.
- ``out reduces input over dim``: the tensor has the sizes of the input without these dimensions, or
  with 1 in their place; absent dimensions are all.
- ``out joins tensors along dim``: the tensor has the sizes of a concatenation.
- ``out broadcasts input, other``: the tensor has the sizes to which both broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_BINARY = "out broadcasts input, other"
_SAME = "input [*x]; out [*x]"

_FAMILIES: Mapping[str, str] = {
    # Operators, without their prefix, that share their clauses.
    "Add Sub Mul Div Eq Ne Lt Le Gt Ge LogicalAnd LogicalOr BitwiseAnd BitwiseOr Maximum Minimum "
    "Remainder": _BINARY,
    "PowTensor": "out broadcasts input, exponent",
    "AddInp SubInp MulInp DivInp EqInp NeInp LtInp LeInp GtInp GeInp LogicalAndInp LogicalOrInp "
    "BitwiseAndInp BitwiseOrInp": "input [*x]; other ~ [*x]",
    "PowInpTensor": "input [*x]; exponent ~ [*x]",
    "AddScalar SubScalar MulScalar DivScalar EqScalar NeScalar LtScalar LeScalar GtScalar GeScalar "
    "Pow Abs Neg Exp Log Sqrt Rsqrt Sin Cos Tanh Sigmoid Relu Gelu Silu Erf Floor Ceil Reciprocal "
    "Sign LeakyRelu Hardtanh Hardswish Threshold ClampScalar CastDtype LogicalNot BitwiseNot IsNan "
    "Tril Triu": _SAME,
    "Clamp": f"{_SAME}; min ~ [*x]; max ~ [*x]",
    "Cumsum": f"{_SAME}; dim of input",
    "Roll Flip": f"{_SAME}; dims of input",
    "CopyInp": "dest [*x]; src ~ [*x]",
    "GeluBackward ThresholdBackward SiluBackward LeakyReluBackward HardtanhBackward "
    "HardswishBackward": "grad_output [*x]; input [*x]; grad_input [*x]",
    "SigmoidBackward TanhBackward": "grad_output [*x]; output [*x]; grad_input [*x]",
    "Softmax LogSoftmax": f"{_SAME}; dim of input",
    "SoftmaxBackward LogSoftmaxBackward": (
        "grad_output [*x]; output [*x]; grad_input [*x]; dim of output"
    ),
    "Mm": "input [n, k]; mat2 [k, m]; out [n, m]",
    "Bmm": "input [b, n, k]; mat2 [b, k, m]; out [b, n, m]",
    "Addmm": "mat1 [n, k]; mat2 [k, m]; out [n, m]; input ~ [n, m]",
    "Baddbmm": "batch1 [b, n, k]; batch2 [b, k, m]; out [b, n, m]; input ~ [b, n, m]",
    "Linear": "input [*x, k]; weight [m, k]; bias [m]; out [*x, m]",
    "LinearBackward": (
        "input [*x, k]; weight [m, k]; grad_output [*x, m]; grad_input [*x, k]; "
        "grad_weight [m, k]; grad_bias [m]"
    ),
    "LayerNorm": (
        "normalized_shape [*n]; input [*b, *n]; out [*b, *n]; weight [*n]; bias [*n]; "
        "save_mean holds [*b]; save_invstd holds [*b]"
    ),
    "LayerNormBackward": (
        "normalized_shape [*n]; input [*b, *n]; grad_output [*b, *n]; weight [*n]; bias [*n]; "
        "grad_input [*b, *n]; grad_weight [*n]; grad_bias [*n]; mean holds [*b]; rstd holds [*b]"
    ),
    "Embedding": "indices [*i]; weight [_, d]; out [*i, d]",
    "EmbeddingBackward": "indices [*i]; grad [*i, d]; out [_, d]",
    "Sum Mean Prod Norm": "dim of input; out reduces input over dim",
    "Cat": "dim of out; out joins tensors along dim",
    "IndexSelect": "dim of input; index [_]",
    "MaskedFillScalar": "input [*x]; out [*x]; mask ~ [*x]",
    "MaskedFillInp MaskedFillInpScalar": "input [*x]; mask ~ [*x]",
    "AddcmulInp AddcdivInp": "input [*x]; tensor1 ~ [*x]; tensor2 ~ [*x]",
    "Permute": "dims of input",
    "Dropout": "input [*x]; out [*x]; mask ~ [*x]",
    "Adam AdamW": ("param [*x]; grad [*x]; exp_avg [*x]; exp_avg_sq [*x]; max_exp_avg_sq [*x]"),
    "Sgd": "param [*x]; grad [*x]; buf [*x]",
    "Gather": "dim of input; index [*i]; out [*i]",
}


def _by_operator() -> Iterator[tuple[str, str]]:
    for names, clauses in _FAMILIES.items():
        for name in names.split():
            yield f"diopi{name}", clauses


SHAPES: Mapping[str, str] = dict(_by_operator())
"""Clauses by operator."""
