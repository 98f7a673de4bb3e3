"""Normalisations, softmax and attention: see native.py for what the tables mean."""

from __future__ import annotations

_ATTENTION = ("nn.functional.scaled_dot_product_attention",)

FORWARD: dict[str, tuple[str, ...]] = {
    "_fused_rms_norm": ("nn.functional.rms_norm",),
    "_scaled_dot_product_flash_attention_for_cpu": _ATTENTION,
    "native_group_norm": ("nn.functional.group_norm",),
}
BACKWARD: dict[str, tuple[str, ...]] = {
    "_fused_rms_norm_backward": ("nn.functional.rms_norm",),
    "_scaled_dot_product_flash_attention_for_cpu_backward": _ATTENTION,
    "native_group_norm_backward": ("nn.functional.group_norm",),
}
