"""Properties of single operators that the sweep needs. Running them shows other properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diopi_proto.tolerance import OpClass

UNINITIALISED = frozenset(
    {
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
    }
)
"""Operators with uninitialized results: only dtype, shape and strides are compared."""

WITHOUT_VALUES = UNINITIALISED | {"_make_dep_token"}
"""The same for overloads, of which there is one more than in OpInfo."""

ANY_STRIDES = frozenset(
    {
        "_scaled_dot_product_flash_attention_for_cpu",
        "scaled_dot_product_attention",
    }
)
"""Operators whose result strides torch does not document; its own devices differ."""

VARYING = frozenset({"lstsq"})
"""Operators that torch's CPU rounds differently from call to call, although they are not random.
(LAPACK's gelsy starts from pivots that torch leaves uninitialized.)"""

CPU_ARGUMENTS = frozenset({"tensor_split"})
"""Operators whose additional tensor arguments torch requires on the CPU, for any device."""

DENSE_TARGETS_ONLY = frozenset({"linalg.lu", "lu_unpack", "nn.functional.gelu", "tril", "triu"})
"""Operators for which torch's CPU kernels (2.13) are wrong if out= is strided: gelu does not
write to it, the others write out of bounds."""

INDEPENDENT = frozenset(
    {
        "bernoulli",
        "cauchy",
        "exponential",
        "geometric",
        "log_normal",
        "nn.functional.alpha_dropout",
        "nn.functional.dropout",
        "normal",
        "normal.in_place",
        "normal.number_mean",
        "rand_like",
        "randint",
        "randint_like",
        "randn",
        "randn_like",
        "uniform",
    }
)
"""Random operators that draw for each element. Others share draws among elements."""

# Sums of products, and plain sums.
_CLASSES = {
    "__rmatmul__": OpClass.MATMUL,
    "addbmm": OpClass.MATMUL,
    "addmm": OpClass.MATMUL,
    "addmm.decomposed": OpClass.MATMUL,
    "addmv": OpClass.MATMUL,
    "addr": OpClass.MATMUL,
    "baddbmm": OpClass.MATMUL,
    "bmm": OpClass.MATMUL,
    "dot": OpClass.MATMUL,
    "einsum": OpClass.MATMUL,
    "inner": OpClass.MATMUL,
    "matmul": OpClass.MATMUL,
    "mm": OpClass.MATMUL,
    "mv": OpClass.MATMUL,
    "nn.functional.bilinear": OpClass.MATMUL,
    "nn.functional.conv1d": OpClass.MATMUL,
    "nn.functional.conv2d": OpClass.MATMUL,
    "nn.functional.conv3d": OpClass.MATMUL,
    "nn.functional.conv_transpose1d": OpClass.MATMUL,
    "nn.functional.conv_transpose2d": OpClass.MATMUL,
    "nn.functional.conv_transpose3d": OpClass.MATMUL,
    "nn.functional.linear": OpClass.MATMUL,
    "tensordot": OpClass.MATMUL,
    "vdot": OpClass.MATMUL,
    "cumsum": OpClass.REDUCTION,
    "mean": OpClass.REDUCTION,
    "nansum": OpClass.REDUCTION,
    "sum": OpClass.REDUCTION,
    "sum_to_size": OpClass.REDUCTION,
    "trace": OpClass.REDUCTION,
}


# Operators with results as large as the arguments, each with sums over many of them inside.
_SUMMING = frozenset(
    {
        "cdist",
        "cholesky_inverse",
        "cholesky_solve",
        "linalg.inv",
        "linalg.inv_ex",
        "linalg.lu_solve",
        "linalg.matrix_power",
        "linalg.pinv",
        "linalg.pinv.hermitian",
        "linalg.pinv.singular",
        "linalg.solve",
        "linalg.solve_ex",
        "linalg.solve_triangular",
        "linalg.tensorinv",
        "linalg.tensorsolve",
        "log_softmax",
        "logcumsumexp",
        "lu_solve",
        "matrix_exp",
        "nn.functional.batch_norm",
        "nn.functional.ctc_loss",
        "nn.functional.group_norm",
        "nn.functional.instance_norm",
        "nn.functional.layer_norm",
        "nn.functional.local_response_norm",
        "nn.functional.normalize",
        "nn.functional.rms_norm",
        "nn.functional.scaled_dot_product_attention",
        "nn.functional.softmin",
        "native_batch_norm",
        "native_layer_norm",
        "renorm",
        "softmax",
        "triangular_solve",
    }
)

# Sums over all arguments, which may cancel. The same sum over absolute values, which measures the
# magnitude, may be as large for a single element.
_TRANSFORMS = frozenset(
    {
        *(f"fft.{kind}{dims}" for kind in ("fft", "hfft", "rfft") for dims in ("", "2", "n")),
        *(f"fft.i{kind}{dims}" for kind in ("fft", "hfft", "rfft") for dims in ("", "2", "n")),
        "istft",
        "stft",
    }
)


def full_name(op: Any) -> str:
    """Return OpInfo's name with its variant: ``std.unbiased``."""
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


@dataclass(frozen=True)
class Judgement:
    """Rule for comparing the results of one operator.

    :ivar op_class: class of the rounding bound; None: reductions for results smaller than the
        arguments, else elementary functions.
    :ivar normwise: compare errors with the largest element instead of each element.
    """

    op_class: OpClass | None = None
    any_strides: bool = False
    uninitialised: bool = False
    cpu_arguments: bool = False
    independent: bool = False
    varies: bool = False
    normwise: bool = False

    @classmethod
    def of(cls, op: Any) -> Judgement:
        name = op.name.split(".")[-1]
        summing = OpClass.REDUCTION if full_name(op) in _SUMMING | _TRANSFORMS else None
        return cls(
            op_class=_CLASSES.get(full_name(op), summing),
            any_strides=name in ANY_STRIDES,
            uninitialised=name in UNINITIALISED,
            cpu_arguments=name in CPU_ARGUMENTS,
            independent=full_name(op) in INDEPENDENT,
            varies=name in VARYING,
            normwise=full_name(op) in _TRANSFORMS,
        )

    def class_of(self, result: int, arguments: int) -> OpClass:
        """Return the class for a result of ``result`` elements from arguments of ``arguments``
        elements."""
        if self.op_class is not None:
            return self.op_class
        return OpClass.REDUCTION if result < arguments else OpClass.ELEMENTARY
