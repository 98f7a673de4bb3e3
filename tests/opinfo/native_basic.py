"""The first operators that were native: see native.py for what the tables mean."""

from __future__ import annotations

CONVOLUTIONS = tuple(
    f"nn.functional.conv{form}{dims}d" for form in ("", "_transpose") for dims in (1, 2, 3)
)

FORWARD: dict[str, tuple[str, ...]] = {
    "_log_softmax": ("log_softmax",),
    "_softmax": ("softmax",),
    "add.Tensor": ("add",),
    "bernoulli_.float": ("nn.functional.dropout",),
    "convolution": CONVOLUTIONS,
    "embedding": ("nn.functional.embedding",),
    "fill_.Scalar": ("fill", "ones_like"),
    "gelu": ("nn.functional.gelu",),
    "masked_fill_.Scalar": ("masked_fill", "nn.functional.threshold"),
    "max_pool2d_with_indices": ("nn.functional.max_pool2d",),
    "nll_loss_forward": ("nn.functional.nll_loss",),
    "normal_": ("normal.in_place", "randn_like", "randn"),
    "relu": ("nn.functional.relu",),
    "silu": ("nn.functional.silu",),
    "uniform_": ("uniform", "rand_like"),
    "zero_": ("zeros_like", "new_zeros"),
}
BACKWARD: dict[str, tuple[str, ...]] = {
    "_log_softmax_backward_data": ("log_softmax",),
    "_softmax_backward_data": ("softmax",),
    "convolution_backward": CONVOLUTIONS,
    "embedding_dense_backward": ("nn.functional.embedding",),
    "gelu_backward": ("nn.functional.gelu",),
    "max_pool2d_with_indices_backward": ("nn.functional.max_pool2d",),
    "native_batch_norm_backward": ("native_batch_norm",),
    "native_layer_norm_backward": ("native_layer_norm",),
    "nll_loss_backward": ("nn.functional.nll_loss",),
    "sigmoid_backward": ("sigmoid",),
    "silu_backward": ("nn.functional.silu",),
    "tanh_backward": ("tanh",),
    "threshold_backward": ("nn.functional.relu",),
}


# Plain samples that dl-core leaves to the CPU: a pattern of what describe() says, and why.
DECLARED = {
    "addr": (r".*alpha=0\.0", "infinity times 0: no number here, while products leave it alone"),
    "embedding": (r".*sparse=True", "its gradient is a sparse tensor"),
    "gather": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "index_select": (r"\(float32\[\]", "no dimensions: nothing to gain"),
    "masked_select": (r"\(float32(\[.*?\]), bool(?!\1)", "the contract does not broadcast"),
    "max_pool2d_with_indices": (r"\(float32\[\d+, \d+, \d+\]", "the contract wants a batch"),
    "max_pool2d_with_indices_backward": (
        r"\(float32\[\d+, \d+, \d+\]",
        "the contract wants a batch",
    ),
}
