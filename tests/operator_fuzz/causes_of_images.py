"""Causes of different values of resampled and pooled images, and of padding."""

from __future__ import annotations

from functools import partial

import torch

from .arguments import (
    has_contradicting_scales,
    has_unusable_coordinates,
)
from .cause import (
    Cause,
)
from .elements import (
    differing,
)
from .outcomes import (
    from_infinities,
    has_equal_rows_of_width_1,
    name_equal_elements_of_planes,
    overflows_in_another_order,
    within,
)

IMAGES: tuple[Cause, ...] = (
    Cause(
        "the position of infinite or nan coordinates is undefined",
        "values",
        r"nn\.functional\.grid_sample|grid_sampler_.*",
        has_unusable_coordinates,
    ),
    Cause(
        "weighted sums of nearly the largest number overflow in another order of their terms",
        "values",
        r"nn\.functional\.(grid_sample|interpolate|upsample.*)|_?upsample.*|grid_sampler.*",
        overflows_in_another_order,
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
        "torch's weights of interpolation are rounded more than dl's",
        "values",
        r"nn\.functional\.(interpolate|upsample).*|_upsample.*",
        partial(within, 1e-13),
    ),
    Cause(
        "torch's CPU (2.13) returns the first row for all rows of antialiased images 1 wide",
        "values",
        r"_upsample_.*_aa|nn\.functional\.(interpolate|upsample).*",
        has_equal_rows_of_width_1,
    ),
)
