"""Causes of different errors: only one side raises, or both raise different types of errors."""

from __future__ import annotations

from functools import partial

from .arguments import (
    has_unequal_keys_and_values,
    powers_overflow,
)
from .cause import Cause
from .outcomes import (
    cpu_raises,
    is_singular_to_one,
    raises,
    raises_alike_without_out,
    result_bytes,
)

ERRORS: tuple[Cause, ...] = (
    Cause(
        "torch's CPU has no kernel for the dtype",
        "accepts|error class",
        explains=partial(cpu_raises, "not implemented for '|Unsupported dtype"),
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
        "torch's CPU fails an internal check for arguments that dl refuses with a message or "
        "computes",
        "error class|accepts",
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
        "torch's CPU reads no values beyond the keys; dl refuses more values than keys",
        "raises",
        r"nn\.functional\.scaled_dot_product_attention",
        lambda difference: (
            raises(r"key has \d+ rows and value", difference)
            and has_unequal_keys_and_values(difference)
        ),
    ),
    Cause(
        "torch's CPU reads beyond the classes of a label that is out of range; dl refuses it",
        "raises",
        r"nn\.functional\.ctc_loss",
        partial(raises, r"target -?\d+ at position \d+ is out of range"),
    ),
    Cause(
        "torch's CPU ignores indices into a dimension of size 0; dl refuses them",
        "raises",
        "index_.*",
        partial(raises, r"index -?\d+ is out of bounds for dimension -?\d+ with size 0"),
    ),
    Cause(
        "windows of dl's convolutions are smaller than 2^31",
        "raises",
        r"nn\.functional\.conv.*",
        partial(raises, r"a window is too large; none may exceed 2\^31"),
    ),
    Cause(
        "a result of a gigabyte, which the machine does not have a second time",
        "raises",
        explains=lambda difference: (
            raises("out of memory. Tried to allocate", difference)
            and result_bytes(difference) >= 1 << 30
        ),
    ),
    Cause(
        "dl gathers the cells of antialiasing: a multiple of the result, beyond a session's memory",
        "raises",
        "_upsample_.*_aa",
        partial(raises, "out of memory. Tried to allocate"),
    ),
    Cause(
        "torch's CPU checks the start of narrow_copy before its length, other devices after it",
        "error class",
        "narrow_copy",
        partial(raises, "length must be non-negative"),
    ),
    Cause(
        "torch's CPU has no gradient of softmax into another dtype; dl has, as CUDA",
        "accepts",
        "_(log_)?softmax_backward_data",
        partial(cpu_raises, "expected scalar type"),
    ),
    Cause(
        "torch (2.13) chooses dtypes of chunks by device, and accepts mixed ones only on the CPU",
        "raises",
        r"nn\.functional\.linear_cross_entropy\.chunked.*",
        partial(raises, "expected m1 and m2 to have the same dtype"),
    ),
    Cause(
        "torch refuses a mask next to is_causal, but not in its attention kernel for the CPU",
        "raises",
        r"nn\.functional\.scaled_dot_product_attention",
        partial(raises, "Explicit attn_mask should not be set when is_causal=True"),
    ),
    Cause(
        "torch's CPU writes to elements that share memory, one after the other; dl refuses",
        "raises|error class",
        explains=partial(raises, "more than one element of the written-to tensor"),
    ),
    Cause(
        "torch's CPU converts numbers to the dtype of the tensor; dl computes in a wider one",
        "accepts",
        "logit|histc",
        partial(cpu_raises, "value cannot be converted to type .* without overflow"),
    ),
    Cause(
        "a matrix that is singular has a pivot of 0 or of rounding",
        "accepts|raises",
        r"linalg\..*|.*solve|lu.*|cholesky.*|inverse",
        is_singular_to_one,
    ),
    Cause(
        "products of huge arguments overflow on torch's CPU, which refuses to factorize them",
        "accepts",
        r"pca_lowrank|svd_lowrank|linalg\..*|svd|pinverse",
        lambda difference: (
            cpu_raises("contained non-finite values", difference) and powers_overflow(difference)
        ),
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
        "torch's CPU does not count the pivots of lu_unpack",
        "raises",
        "lu_unpack",
        partial(raises, "LU_pivots is empty"),
    ),
    Cause(
        "torch's CPU does not read the pivots of an empty system; dl refuses invalid ones",
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
        "torch's formula (2.13) for the number of elements of a triangle overflows for the offset",
        "accepts",
        "tri[lu]_indices",
        partial(cpu_raises, "negative dimension"),
    ),
)
