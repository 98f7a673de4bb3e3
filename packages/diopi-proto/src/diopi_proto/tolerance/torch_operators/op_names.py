"""Classes of operators by schema name, where the schema does not determine the class."""

from __future__ import annotations

EXACT = frozenset(
    {
        "_local_scalar_dense",
        "_to_copy",
        "_unique2",
        "abs",
        "adaptive_max_pool2d",
        "adaptive_max_pool3d",
        "all",
        "amax",
        "amin",
        "aminmax",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "bucketize",
        "cat",
        "ceil",
        "clamp",
        "clamp_max",
        "clamp_min",
        "clone",
        "conj_physical",
        "constant_pad_nd",
        "copy",
        "copysign",
        "count_nonzero",
        "cummax",
        "cummin",
        "diag_embed",
        "embedding",
        "eq",
        "equal",
        "eye",
        "fill",
        "flip",
        "floor",
        "fmax",
        "fmin",
        "frac",
        "full",
        "full_like",
        "gather",
        "ge",
        "gt",
        "hardtanh",
        "hardtanh_backward",
        "heaviside",
        "index",
        "index_copy",
        "index_fill",
        "index_put",
        "index_select",
        "isfinite",
        "isin",
        "isinf",
        "isnan",
        "kthvalue",
        "le",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "lt",
        "masked_fill",
        "masked_scatter",
        "masked_select",
        "max",
        "max_pool2d_with_indices",
        "max_pool3d_with_indices",
        "maximum",
        "median",
        "min",
        "minimum",
        "mode",
        "nan_to_num",
        "nanmedian",
        "ne",
        "neg",
        "new_full",
        "new_ones",
        "new_zeros",
        "nextafter",
        "nonzero",
        "ones",
        "ones_like",
        "pixel_shuffle",
        "pixel_unshuffle",
        "reflection_pad1d",
        "reflection_pad2d",
        "reflection_pad3d",
        "relu",
        "repeat",
        "repeat_interleave",
        "replication_pad1d",
        "replication_pad2d",
        "replication_pad3d",
        "roll",
        "round",
        "scalar_tensor",
        "scatter",
        "searchsorted",
        "select_backward",
        "select_scatter",
        "sgn",
        "sign",
        "signbit",
        "slice_backward",
        "slice_scatter",
        "sort",
        "stack",
        "take",
        "threshold",
        "threshold_backward",
        "topk",
        "tril",
        "tril_indices",
        "triu",
        "triu_indices",
        "trunc",
        "unfold",
        "unique_consecutive",
        "unique_dim",
        "where",
        "zero",
        "zeros",
        "zeros_like",
    }
)
"""Operators that move, select, compare or convert."""

ROUNDED_ONCE = frozenset({"add", "div", "mul", "reciprocal", "rsub", "sqrt", "sub"})

PRODUCTS = frozenset(
    {
        "_convolution",
        "addbmm",
        "addmm",
        "addmv",
        "addr",
        "baddbmm",
        "bmm",
        "convolution",
        "convolution_backward",
        "convolution_overrideable",
        "convolution_backward_overrideable",
        "dot",
        "linear",
        "matmul",
        "mm",
        "mv",
        "slow_conv3d_forward",
        "slow_conv_dilated2d",
        "slow_conv_transpose2d",
        "_slow_conv2d_forward",
        "_slow_conv2d_backward",
        "vdot",
    }
)
"""Sums of products, linear in each factor."""

POINTWISE = frozenset({"native_dropout_backward"})
"""Elementwise operators that torch does not mark as pointwise."""

LINEAR_SUMS = frozenset(
    {
        "_adaptive_avg_pool2d",
        "_adaptive_avg_pool2d_backward",
        "_adaptive_avg_pool3d",
        "_adaptive_avg_pool3d_backward",
        "avg_pool2d",
        "avg_pool2d_backward",
        "avg_pool3d",
        "avg_pool3d_backward",
        "col2im",
        "cumsum",
        "embedding_dense_backward",
        "im2col",
        "index_add",
        "index_put",
        "max_pool2d_with_indices_backward",
        "max_pool3d_with_indices_backward",
        "mean",
        "nansum",
        "scatter_add",
        "sum",
        "trace",
        "unfold_backward",
    }
)
"""Sums that are linear in their arguments."""

PICKS = {"topk": "dim", "sort": "dim", "kthvalue": "dim", "median": "dim", "nanmedian": "dim"}
"""Operators that return the index of a value; torch does not define which one of several equal
values."""

POOLS = {"max_pool2d_with_indices": 2, "max_pool3d_with_indices": 3}
"""Same, but over the last dimensions together."""

DEFINED_OUTPUTS = {
    "_batch_norm_impl_index": {0, 1, 2},
    "_batch_norm_no_update": {0, 1, 2},
    "_batch_norm_with_update": {0, 1, 2},
    "_ctc_loss": {0},
    "_cudnn_rnn": {0, 1, 2},
    "_linalg_eigh": {0},
    "_linalg_svd": {1},
    "cudnn_batch_norm": {0, 1, 2},
    "linalg_eig": {0},
    "_embedding_bag": {0},
    "_embedding_bag_forward_only": {0},
    "miopen_rnn": {0, 1, 2},
    "mkldnn_rnn_layer": {0, 1, 2},
}
"""Outputs with a unique correct value. Others have an arbitrary sign, order or format, or are
uninitialized."""

UNDEFINED_OUTPUTS = frozenset(
    {
        "debug_attn_mask",
        "philox_offset",
        "philox_seed",
        "rng_state",
        "unused",
    }
)
"""Outputs without a unique value, by result names in schemas, for any operator: states of a random
generator, which are uninitialized if no random numbers are used, and values for the operator's"""

ATTENTION = "_scaled_dot_product"
