"""Pooling and resizing: see native.py for what the tables mean."""

from __future__ import annotations


def _resizing(mode: str) -> tuple[str, ...]:
    return (f"nn.functional.interpolate.{mode}",)


FORWARD: dict[str, tuple[str, ...]] = {
    "_adaptive_avg_pool2d": ("nn.functional.adaptive_avg_pool2d",),
    "_adaptive_avg_pool3d": ("nn.functional.adaptive_avg_pool3d",),
    "adaptive_max_pool2d": ("nn.functional.adaptive_max_pool2d",),
    "adaptive_max_pool3d": ("nn.functional.adaptive_max_pool3d",),
    "avg_pool2d": ("nn.functional.avg_pool2d",),
    "avg_pool3d": ("nn.functional.avg_pool3d",),
    "max_pool3d_with_indices": ("nn.functional.max_pool3d",),
    "upsample_bicubic2d": _resizing("bicubic"),
    "upsample_bilinear2d": (*_resizing("bilinear"), "nn.functional.upsample_bilinear"),
    "upsample_linear1d": _resizing("linear"),
    "upsample_trilinear3d": _resizing("trilinear"),
    # The modes sample one, two and three dimensions.
    **{
        f"upsample_nearest{n}d": (*_resizing("nearest"), "nn.functional.upsample_nearest")
        for n in (1, 2, 3)
    },
    **{f"_upsample_nearest_exact{n}d": _resizing("nearest-exact") for n in (1, 2, 3)},
}

BACKWARD: dict[str, tuple[str, ...]] = {
    **{f"{name}_backward": callers for name, callers in FORWARD.items()},
    "fractional_max_pool2d_backward": ("nn.functional.fractional_max_pool2d",),
    "fractional_max_pool3d_backward": ("nn.functional.fractional_max_pool3d",),
}
