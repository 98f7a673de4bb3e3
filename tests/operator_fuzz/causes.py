"""The causes of differences from torch's CPU: each with a reason and a precise predicate.

A difference that no cause explains fails the session. Causes are true limits of torch or of dl,
never faults that could be fixed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from .elements import differing
from .judge import Difference
from .predicates import (
    cancels,
    cpu_is_nan,
    cpu_raises,
    from_infinities,
    has_channels_last_volume,
    has_contradicting_scales,
    has_extreme_order,
    has_huge_arguments,
    has_infinite_scalar,
    has_large_degrees,
    has_negative_scalar,
    has_strided_parameters,
    has_tiny_exponents,
    has_unusable_coordinates,
    in_complex_numbers,
    in_ties,
    infinite_or_nan,
    is_closer_than_the_cpu,
    is_deficient,
    is_singular_to_the_cpu,
    lies_at_a_pole,
    name_equal_elements_of_planes,
    offsets_decrease,
    offsets_leave_the_data,
    powers_overflow,
    products_leave_the_range,
    raises,
    raises_alike_without_out,
    sequence_is_unsorted,
    strides_address_nothing,
    strides_of_size_1_differ,
    takes_integers,
    within,
    within_narrowest,
    within_or_not_finite,
    writes_to_shared_memory,
)

Predicate = Callable[[Difference], bool]


@dataclass(frozen=True)
class Cause:
    """A reason for differences, and the differences that it explains.

    :ivar kind: pattern of the kinds of differences.
    :ivar operator: pattern of the operators' names.
    :ivar explains: what else has to hold.
    """

    reason: str
    kind: str
    operator: str = ".*"
    explains: Predicate = lambda difference: True

    def covers(self, difference: Difference) -> bool:
        return bool(
            re.fullmatch(self.kind, difference.kind)
            and re.fullmatch(self.operator, difference.call.target.name)
            and self.explains(difference)
        )


_SPECIAL_NAN = r"special\.zeta|polygamma.*|special\.polygamma.*|nn\.functional\.gelu"

CAUSES: tuple[Cause, ...] = (
    Cause(
        "torch's CPU has no kernel for the dtype",
        "accepts|error class",
        explains=partial(cpu_raises, "not implemented for '"),
    ),
    Cause(
        "torch's CPU refuses a tensor that is not contiguous",
        "accepts",
        explains=partial(cpu_raises, r"is_contiguous\(memory_format\) to be true"),
    ),
    Cause(
        "torch checks the range of quantiles on the CPU alone, where it costs no synchronisation",
        "accepts",
        "(nan)?quantile",
        partial(cpu_raises, r"q values must be in the range \[0, 1\]"),
    ),
    Cause(
        "torch's CPU fails an internal check of arguments that dl refuses in words",
        "error class",
        explains=partial(cpu_raises, r"Could this error message be improved|INTERNAL ASSERT"),
    ),
    Cause(
        "an argument and out= are wrong, and dl names out= first",
        "error class",
        explains=raises_alike_without_out,
    ),
    Cause(
        "torch's CPU reads the first elements of parameters of the wrong size; dl refuses them",
        "raises",
        ".*batch_norm.*",
        partial(raises, r"has \d+ elements; the input has \d+ channels"),
    ),
    Cause(
        "torch's CPU reads beyond the classes of a label that is out of range; dl refuses it",
        "raises",
        r"nn\.functional\.ctc_loss",
        partial(raises, r"target -?\d+ at position \d+ is out of range"),
    ),
    Cause(
        "torch refuses a mask next to is_causal, but not in its attention kernel for the CPU",
        "raises",
        r"nn\.functional\.scaled_dot_product_attention",
        partial(raises, "Explicit attn_mask should not be set when is_causal=True"),
    ),
    Cause(
        "torch documents no strides of attention, and its own devices differ",
        "strides",
        r"nn\.functional\.scaled_dot_product_attention|_scaled_dot_product_.*",
    ),
    Cause(
        "torch's CPU writes to elements that share memory, one after the other; dl refuses",
        "raises",
        explains=partial(raises, "more than one element of the written-to tensor"),
    ),
    Cause("the dtype overflows on torch's CPU too, or in another order of the terms", "overflow"),
    Cause(
        "which of several elements that share memory is written last is left open",
        "values|argument",
        explains=writes_to_shared_memory,
    ),
    Cause(
        "which of equal elements an index names is left open",
        "values",
        r"(arg)?sort|topk|kthvalue|(nan)?median|mode|msort|cum(max|min)|arg(max|min)|m(ax|in)_.*",
        in_ties,
    ),
    Cause(
        "torch's Bessel and Airy functions (2.13) have 5 to 8 digits, and are nan at infinity",
        "values",
        r"special\.(airy_ai|(scaled_)?(modified_)?bessel_.*|i0e?|i1e?)|i0",
        partial(within, 3e-6),
    ),
    Cause(
        "torch (2.13) is nan where the argument is infinite and dl has the limit, or has the limit "
        "of a series that has none",
        "values",
        _SPECIAL_NAN,
        from_infinities,
    ),
    Cause(
        "torch's recurrences (2.13) for polynomials end in inf - inf, round once for each degree, "
        "take infinite degrees for negative ones, or return an uninitialized variable at nan",
        "values",
        r"special\..*_polynomial_.*",
        lambda difference: within_or_not_finite(1e-3, difference) or has_large_degrees(difference),
    ),
    Cause(
        "poles at negative integers, of which torch (2.13) takes the sine of a rounded multiple",
        "values",
        r"polygamma.*|special\.polygamma.*|digamma|special\.psi|(l|mv)?lgamma.*",
        lies_at_a_pole,
    ),
    Cause(
        "torch's incomplete gamma functions (2.13) cancel for tiny exponents",
        "values",
        r"igammac?|special\.gammaincc?",
        has_tiny_exponents,
    ),
    Cause(
        "which zeros of padding and of gaps meet infinite weights depends on the algorithm",
        "values",
        r"nn\.functional\.conv.*|nn\.functional\.unfold|nn\.functional\.ctc_loss",
        from_infinities,
    ),
    Cause(
        "where infinite or nan coordinates lie is left open",
        "values",
        r"nn\.functional\.grid_sample|grid_sampler_.*",
        has_unusable_coordinates,
    ),
    Cause(
        "torch's means (2.13) of infinities are nan, by inf - inf in Welford's update",
        "values",
        "(std|var)_mean.*|native_(group|layer)_norm",
        cpu_is_nan,
    ),
    Cause(
        "products in another order overflow or underflow, or meet an infinity before a zero",
        "values",
        r"(masked\.)?(cum)?prod|linalg\.(multi_dot|vander|matrix_power|det|slogdet)|logdet",
        products_leave_the_range,
    ),
    Cause(
        "which part of a product or quotient of complex infinities is nan depends on the formula",
        "values",
        explains=in_complex_numbers,
    ),
    Cause(
        "where transforms of infinities meet inf - inf depends on the algorithm",
        "values",
        r"fft\..*|i?stft",
        infinite_or_nan,
    ),
    Cause(
        "factors of a matrix that is singular or has infinities are rounding",
        "values",
        r"lu.*|qr|geqrf|svd|pinverse|cholesky.*|linalg\..*|ormqr|triangular_solve|logdet|svd_.*"
        "|pca_lowrank",
        is_deficient,
    ),
    Cause(
        "what follows a minor that is not positive definite is left open",
        "values",
        r"(linalg\.)?cholesky_ex",
        lambda difference: bool(difference.cpu.leaves()[1].any()),
    ),
    Cause(
        "torch's CPU (2.13) reads weights of native_group_norm as if they were contiguous",
        "values",
        "native_group_norm",
        has_strided_parameters,
    ),
    Cause(
        "draws of a huge rate are 0 on torch's CPU, those of a tiny one infinite; dl's are neither",
        "values",
        "exponential",
        lambda difference: all(
            pair.all(((pair.got > 0) & (pair.got < 1e-37)) | (pair.got > 1e37))
            for pair in differing(difference)
        ),
    ),
    Cause(
        "sums that overflow, or meet infinities, do so in the order of their terms",
        "values",
        r"add(b?mm|mv|r|mm\.decomposed)|baddbmm"
        r"|nn\.functional\.(embedding_bag|(adaptive_)?avg_pool\dd)",
        lambda difference: (
            infinite_or_nan(difference)
            and (has_infinite_scalar(difference) or powers_overflow(difference))
        ),
    ),
    Cause(
        "torch's CPU converts numbers to the dtype of the tensor; dl computes in a wider one",
        "accepts",
        "logit|histc",
        partial(cpu_raises, "value cannot be converted to type .* without overflow"),
    ),
    Cause(
        "a matrix that is singular has a pivot of 0 or of rounding",
        "accepts",
        r"linalg\..*|.*solve|lu.*|cholesky.*|inverse",
        is_singular_to_the_cpu,
    ),
    Cause(
        "torch's normal (2.13) does not resize out=; dl does",
        "accepts|shape",
        r"normal.*",
        lambda difference: difference.call.form == "out",
    ),
    Cause(
        "torch's CPU reads beyond pivots that are too few",
        "accepts",
        "lu_unpack",
        partial(cpu_raises, "pivots passed to lu_unpack must be between"),
    ),
    Cause(
        "torch's CPU does not read pivots where there is nothing to solve; dl refuses wrong ones",
        "raises",
        "(linalg\\.)?lu_solve",
        partial(raises, "pivot -?\\d+ at \\d+ is not the number of a row"),
    ),
    Cause(
        "torch's fused attention for the CPU ignores a dropout_p below 0; dl refuses it, as CUDA",
        "raises",
        r"nn\.functional\.scaled_dot_product_attention",
        partial(raises, "dropout_p is .*, but a probability has to be between 0 and 1"),
    ),
    Cause(
        "scales that contradict the output size, which no public function passes",
        "values",
        r"_upsample_.*",
        has_contradicting_scales,
    ),
    Cause(
        "which zero weights meet infinite elements depends on the algorithm",
        "values",
        r"_upsample_.*_aa|nn\.functional\.(interpolate|upsample).*",
        from_infinities,
    ),
    Cause(
        "powers of an extreme order overflow or underflow on torch's CPU; dl scales them",
        "values",
        r"nn\.functional\.(pdist|embedding(_bag)?|normalize|pairwise_distance)|cdist|renorm"
        r"|linalg\.(vector_|matrix_)?norm.*|(masked\.)?norm.*|dist|polygamma.*|special\.polygamma.*",
        has_extreme_order,
    ),
    Cause(
        "torch's trigamma (2.13) has 8 to 10 digits",
        "values",
        r"polygamma.*|special\.polygamma.*",
        partial(within, 1e-8),
    ),
    Cause(
        "torch's incomplete gamma and zeta functions (2.13) are nan for huge arguments",
        "values",
        r"igammac?|special\.(gammaincc?|zeta)",
        lambda difference: cpu_is_nan(difference) and has_huge_arguments(difference),
    ),
    Cause(
        "differences of distances cancel",
        "values",
        r"nn\.functional\.triplet_margin.*",
        cancels,
    ),
    Cause(
        "which columns meet a factor that is nan depends on the algorithm",
        "values",
        r"linalg\.householder_product|ormqr",
        from_infinities,
    ),
    Cause(
        "which terms of folded factors meet an infinity depends on the order",
        "values",
        r"_?native_batch_norm.*|nn\.functional\.batch_norm",
        from_infinities,
    ),
    Cause(
        "a histogram of one value has edges that are equal",
        "values",
        "histogram",
        lambda difference: has_huge_arguments(difference) and infinite_or_nan(difference),
    ),
    Cause(
        "torch's CPU names an element outside of a window that has none; dl -1",
        "values",
        r"nn\.functional\.max_pool\dd",
        lambda difference: all(
            pair.cpu.dtype == torch.int64 and pair.all(pair.got == -1)
            for pair in differing(difference)
        ),
    ),
    Cause(
        "which of the equal elements of a window an index names is left open",
        "values",
        r"nn\.functional\.fractional_max_pool\dd",
        name_equal_elements_of_planes,
    ),
    Cause(
        "torch does not check that offsets of segments are in the data",
        "values",
        r"_?segment_reduce.*",
        offsets_leave_the_data,
    ),
    Cause(
        "torch composes rms_norm of 16-bit types, which keeps strides that address nothing",
        "strides",
        r"nn\.functional\.rms_norm",
        strides_of_size_1_differ,
    ),
    Cause(
        "squares and powers overflow or underflow on torch's CPU; dl scales them",
        "values",
        r".*_norm|nn\.functional\.(normalize|cosine_.*|pairwise_distance)|c?dist|pdist|renorm"
        r"|linalg\.(vector_|matrix_)?norm.*|(masked\.)?norm.*",
        lambda difference: powers_overflow(difference) and is_closer_than_the_cpu(difference),
    ),
    Cause(
        "an epsilon below zero cancels the variance",
        "values",
        r".*_norm",
        has_negative_scalar,
    ),
    Cause(
        "products overflow where both the vectors and their factors are huge",
        "values",
        r"linalg\..*|cholesky.*|lu.*|qr|ormqr|geqrf|triangular_solve|svd.*|pinverse|logdet",
        lambda difference: powers_overflow(difference) and infinite_or_nan(difference),
    ),
    Cause(
        "torch's formula (2.13) for the number of elements of a triangle overflows for the offset",
        "accepts",
        "tri[lu]_indices",
        partial(cpu_raises, "negative dimension"),
    ),
    Cause(
        "offsets of bags decrease",
        "values",
        r"nn\.functional\.embedding_bag",
        offsets_decrease,
    ),
    Cause(
        "the sequence is not sorted",
        "values",
        "searchsorted|bucketize",
        sequence_is_unsorted,
    ),
    Cause(
        "computed in float32: no wider reference",
        "values",
        r"masked\.(std|var)",
        takes_integers,
    ),
    Cause(
        "the reference is wider than what the call computes from its narrowest argument",
        "values",
        explains=partial(within_narrowest, 16),
    ),
    Cause(
        "torch's weights of interpolation are rounded more than dl's",
        "values",
        r"nn\.functional\.(interpolate|upsample).*|_upsample.*",
        partial(within, 1e-13),
    ),
    Cause(
        "torch's CPU (2.13) rounds the exponents of logspace to integers first; dl does not",
        "values",
        "logspace.*",
    ),
    Cause(
        "torch's CPU (2.13) writes to out= in another order than out= has, or not at all",
        "values",
        r"narrow_copy|nn\.functional\.(avg_pool3d|gelu)|_?native_batch_norm.*|tri[lu]",
        lambda difference: difference.call.form == "out",
    ),
    Cause(
        "torch's CPU leaves out= of statistics that it does not compute as it is",
        "shape",
        "_?native_batch_norm.*",
        lambda difference: difference.call.form == "out",
    ),
    Cause(
        "torch's CPU ignores the dtype of the input; dl converts, as CUDA does",
        "dtype",
        r"_(log_)?softmax_backward_data",
    ),
    Cause(
        "torch's CPU attention gives 0 for a row whose scores are nan or infinite",
        "values",
        r"nn\.functional\.(scaled_dot_product_attention|multi_head_attention_forward)|_scaled.*",
        from_infinities,
    ),
    Cause(
        "torch's CPU keeps channels-last volumes with some of its kernels and not with others, by "
        "dtype, size and threads; dl keeps them",
        "strides",
        r"nn\.functional\.conv(_transpose)?3d",
        has_channels_last_volume,
    ),
    Cause(
        "strides that address nothing, in which torch's CPU and meta kernels differ",
        "strides",
        explains=strides_address_nothing,
    ),
    Cause(
        "torch promises no strides of gradients",
        "strides",
        explains=lambda difference: difference.call.form == "gradient",
    ),
)


def cause_of(difference: Difference) -> str | None:
    """Return the reason for the difference, or None if there is none."""
    return next((cause.reason for cause in CAUSES if cause.covers(difference)), None)
