"""Functions of single elements, and losses: see native.py for what the tables mean."""

from __future__ import annotations

FORWARD: dict[str, tuple[str, ...]] = {
    "binary_cross_entropy": ("nn.functional.binary_cross_entropy",),
    "clamp_max.Tensor": ("clamp_max",),
    "clamp_min.Tensor": ("clamp_min",),
    "div.Tensor_mode": ("div.floor_rounding", "div.trunc_rounding"),
    "elu": ("nn.functional.celu", "nn.functional.elu", "nn.functional.selu"),
    "hardshrink": ("nn.functional.hardshrink",),
    "hardsigmoid": ("nn.functional.hardsigmoid",),
    "hardswish": ("nn.functional.hardswish",),
    "hardtanh": ("nn.functional.hardtanh",),
    "leaky_relu": ("nn.functional.leaky_relu",),
    "log_sigmoid_forward": ("nn.functional.logsigmoid",),
    "mish": ("nn.functional.mish",),
    "mse_loss": ("nn.functional.mse_loss",),
    "nll_loss2d_forward": ("nn.functional.nll_loss",),
    "smooth_l1_loss": ("nn.functional.smooth_l1_loss",),
    "softplus": ("nn.functional.softplus",),
    "softshrink": ("nn.functional.softshrink",),
    "threshold": ("nn.functional.threshold",),
}
BACKWARD: dict[str, tuple[str, ...]] = {
    "binary_cross_entropy_backward": ("nn.functional.binary_cross_entropy",),
    "elu_backward": ("nn.functional.celu", "nn.functional.elu", "nn.functional.selu"),
    "hardshrink_backward": ("nn.functional.hardshrink",),
    "hardsigmoid_backward": ("nn.functional.hardsigmoid",),
    "hardswish_backward": ("nn.functional.hardswish",),
    "hardtanh_backward": ("nn.functional.hardtanh",),
    "leaky_relu_backward": ("nn.functional.leaky_relu",),
    "log_sigmoid_backward": ("nn.functional.logsigmoid",),
    "mish_backward": ("nn.functional.mish",),
    "mse_loss_backward": ("nn.functional.mse_loss",),
    "nll_loss2d_backward": ("nn.functional.nll_loss",),
    "smooth_l1_loss_backward": ("nn.functional.smooth_l1_loss",),
    "softplus_backward": ("nn.functional.softplus",),
    "softshrink_backward": ("nn.functional.softshrink",),
}
