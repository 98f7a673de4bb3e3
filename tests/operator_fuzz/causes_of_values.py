"""Causes of different values."""

from __future__ import annotations

from functools import partial

from .arguments import (
    crops_and_wraps_around,
    has_alpha_of_zero,
    has_extreme_order,
    has_huge_arguments,
    has_infinite_scalar,
    has_large_degrees,
    has_nan_input,
    has_negative_scalar,
    has_strided_parameters,
    has_tiny_exponents,
    offsets_decrease,
    offsets_leave_the_data,
    powers_overflow,
    products_leave_the_range,
    sequence_is_unsorted,
    takes_integers,
)
from .cause import (
    Cause,
)
from .elements import (
    differing,
)
from .histograms import edges_are_equal, lie_between_edges
from .outcomes import (
    agrees_with_a_copy,
    cancels,
    cancels_where_finite,
    cpu_is_nan,
    from_infinities,
    in_complex_numbers,
    in_ties,
    infinite_or_nan,
    is_closer_than_the_cpu,
    lies_at_a_pole,
    within,
    within_narrowest,
    within_or_not_finite,
    writes_to_shared_memory,
)

_SPECIAL_NAN = r"special\.zeta|polygamma.*|special\.polygamma.*|nn\.functional\.gelu"

VALUES: tuple[Cause, ...] = (
    Cause("the dtype overflows on torch's CPU too, or in another order of the terms", "overflow"),
    Cause(
        "the order of writes to elements that share memory is undefined",
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
        "torch's CPU (2.13) sorts values with nan by < to find the mode, which does not order them",
        "values",
        "mode",
        has_nan_input,
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
        cancels_where_finite,
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
        r"add(b?mm|mv|r|mm\.decomposed)|baddbmm|b?mm|mv|matmul|v?dot|(linalg\.)?cross|_(log_)?softmax_backward_data"
        r"|nn\.functional\.(linear|group_norm|batch_norm|embedding_bag|(adaptive_)?avg_pool\dd)",
        lambda difference: (
            infinite_or_nan(difference)
            and (has_infinite_scalar(difference) or powers_overflow(difference))
        ),
    ),
    Cause(
        "it is undefined if products of nan and infinities are computed for an alpha of 0",
        "values",
        r"add(b?mm|mv|r|mm\.decomposed)|baddbmm",
        lambda difference: from_infinities(difference) and has_alpha_of_zero(difference),
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
        "which terms of folded factors meet an infinity depends on the order",
        "values",
        r"_?(native_)?batch_norm.*|nn\.functional\.batch_norm",
        from_infinities,
    ),
    Cause(
        "a histogram of one value has edges that are equal",
        "values",
        "histogram",
        edges_are_equal,
    ),
    Cause(
        "torch does not check that offsets of segments are in the data",
        "values",
        r"_?segment_reduce.*",
        offsets_leave_the_data,
    ),
    Cause(
        "squares and powers overflow or underflow on torch's CPU; dl scales them",
        "values",
        r".*_norm|_?(native_)?batch_norm_.*|nn\.functional\.(normalize|cosine_.*|pairwise_distance)|c?dist|pdist|renorm"
        r"|linalg\.(vector_|matrix_)?norm.*|(masked\.)?norm.*",
        lambda difference: powers_overflow(difference) and is_closer_than_the_cpu(difference),
    ),
    Cause(
        "an epsilon below zero cancels the variance",
        "values",
        r".*_norm|_batch_norm_with_update",
        has_negative_scalar,
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
        "searchsorted|bucketize|histogram(dd)?",
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
        "torch's circular padding (2.13) copies elements of the result that it has not written yet",
        "values",
        r"nn\.functional\.pad\.circular",
        crops_and_wraps_around,
    ),
    Cause(
        "torch's means (2.13) of huge elements that cancel are rounded in each Welford update",
        "values",
        "(std|var)_mean.*",
        lambda difference: has_huge_arguments(difference) and cancels(difference),
    ),
    Cause(
        "torch's CPU overwrites a factor that is the result, too, while it still reads it",
        "values|argument",
        "add(b?mm|mv|r)|baddbmm",
        agrees_with_a_copy,
    ),
    Cause(
        "torch rounds the edges of a histogram, and an element lies between its edge and dl's",
        "values",
        "histogram",
        lie_between_edges,
    ),
)
