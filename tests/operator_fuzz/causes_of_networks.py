"""Causes of different values of attention and of loss functions."""

from __future__ import annotations

from functools import partial

from diopi_proto.tolerance.torch_operators.comparison import to_host
from dl_torch_tests.opinfo.sweep import tensors_of

from .arguments import exceeds_all_digits
from .cause import Cause
from .elements import differing
from .judge import Difference
from .outcomes import cancels, from_infinities, infinite_or_nan, within_or_not_finite


def scores_overflow(difference: Difference) -> bool:
    """Return True if the CPU's row is 0, or one side not finite, wherever they differ, and products
    of a query of such a row with the keys overflow in the dtype of the query."""
    (result,) = (x for x in differing(difference) if x.cpu.dim() >= 2)
    query, key = (to_host(x) for x in tensors_of(difference.call.arguments)[:2])
    if query.shape[:-1] != result.cpu.shape[:-1] or key.shape[:-2] != query.shape[:-2]:
        return False
    finite = result.got.isfinite() & result.cpu.isfinite()
    rows = ((result.cpu == 0) & finite & result.differ).any(-1)
    overflows = ~(query @ key.transpose(-1, -2)).isfinite().all(-1)
    return (
        bool(rows.any()) and bool(overflows[rows].all()) and result.all(~finite | (result.cpu == 0))
    )


NETWORKS: tuple[Cause, ...] = (
    Cause(
        "torch's CPU attention gives 0 for a row whose scores are nan or infinite",
        "values",
        r"nn\.functional\.(scaled_dot_product_attention|multi_head_attention_forward)|_scaled.*",
        from_infinities,
    ),
    Cause(
        "torch's CPU attention gives 0 for a row whose scores overflow before they are scaled",
        "values",
        r"nn\.functional\.scaled_dot_product_attention",
        scores_overflow,
    ),
    Cause(
        "torch (2.13) adds chunks in a dtype chosen by device: 16-bit logits overflow elsewhere",
        "values",
        r"nn\.functional\.linear_cross_entropy\.chunked.*",
        partial(within_or_not_finite, 1e-3),
    ),
    Cause(
        "torch adds the margin to a huge element, which rounds it away",
        "values",
        r"nn\.functional\.multi(label)?_margin_loss",
        lambda difference: (
            exceeds_all_digits(difference) and (cancels(difference) or infinite_or_nan(difference))
        ),
    ),
    Cause(
        "differences of distances cancel",
        "values",
        r"nn\.functional\.triplet_margin.*",
        cancels,
    ),
)
