"""Causes of different shapes, dtypes and strides."""

from __future__ import annotations

from .arguments import (
    has_channels_last_volume,
)
from .cause import Cause
from .elements import inputs
from .outcomes import (
    converts_expanded_operands,
    strides_address_nothing,
    strides_of_size_1_differ,
)

LAYOUTS: tuple[Cause, ...] = (
    Cause(
        "torch documents no strides of attention, and its own devices differ",
        "strides",
        r"nn\.functional\.scaled_dot_product_attention|_scaled_dot_product_.*",
    ),
    Cause(
        "torch's rms_norm is composite for 16-bit dtypes, which preserves irrelevant strides",
        "strides",
        r"nn\.functional\.rms_norm",
        strides_of_size_1_differ,
    ),
    Cause(
        "torch's CPU resizes out= of batch norm to rows; dl as without out=",
        "strides",
        "_?native_batch_norm.*",
        lambda difference: difference.call.form == "out",
    ),
    Cause(
        "torch's CPU keeps the shape of a self of one element in addmv of a matrix without rows",
        "shape",
        "addmv.*",
        lambda difference: (
            inputs(difference)[0].numel() == 1 and inputs(difference)[1].size(0) == 0
        ),
    ),
    Cause(
        "torch's CPU copies a tensor without elements in pixel_unshuffle, of any shape",
        "shape",
        r"nn\.functional\.pixel_unshuffle",
        lambda difference: inputs(difference)[0].numel() == 0,
    ),
    Cause(
        "torch's CPU does not write out= of statistics that it does not compute",
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
        "torch's CPU keeps channels-last volumes with some of its kernels and not with others, by "
        "dtype, size and threads; dl keeps them",
        "strides",
        r"nn\.functional\.conv(_transpose)?3d",
        has_channels_last_volume,
    ),
    Cause(
        "irrelevant strides, in which torch's CPU and meta kernels differ",
        "strides",
        explains=strides_address_nothing,
    ),
    Cause(
        "torch (2.13) converts operands before it orders dimensions on the CPU, on others after",
        "strides",
        explains=converts_expanded_operands,
    ),
    Cause(
        "torch promises no strides of gradients",
        "strides",
        explains=lambda difference: difference.call.form == "gradient",
    ),
)
