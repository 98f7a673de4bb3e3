"""The calls that `kernels.py` times, by family of the contract.

Each call is created twice, on torch's CPU and on dl, with equal inputs.
"""

from __future__ import annotations

import torch
from _kernel_inputs import (
    SHORT,
    Make,
    adamw,
    attention,
    backward,
    batch_norm,
    binaries,
    binary,
    convolution,
    ctc_loss,
    degrees,
    grid_sample,
    mv_short_rows,
    of,
    of_a_large_matrix,
    of_bools,
    of_complex,
    of_complex_rows,
    of_image,
    of_integers,
    of_list,
    of_matrices,
    of_scores,
    rms_norm,
    short_rows,
    single,
    sparse,
    unaries,
    unscale,
)
from torch.nn import functional

FAMILIES: dict[str, dict[str, Make]] = {
    "activation_piecewise": unaries(functional, "relu leaky_relu hardsigmoid hardtanh hardswish"),
    "activation_smooth": {
        **unaries(functional, "gelu silu elu softplus mish logsigmoid"),
        **unaries(torch, "tanh sigmoid"),
        "gelu_backward": backward(lambda x, a: functional.gelu(a)),
    },
    "advanced_index": {
        "index": lambda x: lambda: x.a[x.index],
        "index_put": lambda x: lambda: x.a.index_put((x.index,), x.b, accumulate=True),
    },
    "any_all": {"any": of_bools(lambda a: a.any(1)), "all": of_bools(lambda a: a.all())},
    "arange": {"arange": lambda x: lambda: torch.arange(x.n, device=x.a.device)},
    "argmax": {"argmax": of(lambda a: a.argmax(1))},
    "arithmetic": {
        **binaries(torch, "add sub mul maximum minimum"),
        "add_scalar": of(lambda a: a + 1.5),
        "add_row": lambda x: lambda: x.a + x.row,
        "add_column": lambda x: lambda: x.a + x.row[:, None],
        "add_transposed": lambda x: lambda: x.a + x.b.t(),
    },
    "attention": {"attention": attention},
    "avg_pooling": {
        "avg_pool2d": of_image(lambda a: functional.avg_pool2d(a, 2)),
        "adaptive_avg_pool2d": of_image(lambda a: functional.adaptive_avg_pool2d(a, 4)),
    },
    "batch_norm": {"batch_norm": batch_norm},
    "bernoulli": {
        "dropout": of(lambda a: functional.dropout(a, 0.1)),
        "bernoulli": of(lambda a: torch.empty_like(a).bernoulli_(0.3)),
    },
    "bessel": unaries(torch.special, "i0 i0e bessel_j0 modified_bessel_k0"),
    "binary_cross_entropy": {
        "binary_cross_entropy": lambda x: lambda: functional.binary_cross_entropy(x.a / 2, x.b / 2),
        "binary_cross_entropy_with_logits": binary(functional.binary_cross_entropy_with_logits),
    },
    "bitwise": {
        "bitwise_and": of_integers(torch.bitwise_and),
        "bitwise_not": of_integers(lambda a, b: torch.bitwise_not(a)),
    },
    "cdist": {"cdist": lambda x: lambda: torch.cdist(x.a[:, :32], x.b[:256, :32])},
    "clamp": {"clamp": of(lambda a: a.clamp(0.7, 1.2))},
    "comparison": binaries(torch, "gt eq"),
    "complex": {
        "polar": lambda x: lambda: torch.polar(x.a, x.b),
        "multiply": of_complex(lambda a: a * a),
        "real": of_complex(lambda a: a.real + 1),
    },
    "concat": {"cat": lambda x: lambda: torch.cat([x.a, x.b], 1)},
    "convolution": {
        "conv2d_1x1": lambda x: convolution(x, 1),
        "conv2d_3x3": lambda x: convolution(x, 3),
        "conv2d_depthwise": lambda x: convolution(x, 3, 16),
    },
    "copy": {
        "copy_transposed": of(lambda a: a.t().contiguous()),
        "to_float64": of(lambda a: a.to(torch.float64)),
        "clone": of(lambda a: a.clone()),
    },
    "ctc_loss": {"ctc_loss": ctc_loss},
    "cumulative": {"cumsum": of(lambda a: a.cumsum(1))},
    "division": {
        "div": binary(torch.div),
        "remainder": binary(torch.remainder),
        "floor_divide": binary(torch.floor_divide),
    },
    "embedding": {"embedding": lambda x: lambda: functional.embedding(x.index, x.a)},
    "exponential": unaries(torch, "exp expm1 log log1p"),
    "fft": {
        "fft": of_complex_rows(256, torch.fft.fft),
        "fft_of_several_factors": of_complex_rows(360, torch.fft.fft),
        "fft_of_a_prime": of_complex_rows(251, torch.fft.fft),
        "rfft": lambda x: lambda: torch.fft.rfft(x.a.float()),
    },
    "fill": {
        "zeros": of(torch.zeros_like),
        "fill": of(lambda a: torch.full_like(a, 1.5)),
    },
    "foreach": {
        "foreach_mul": of_list(lambda a: torch._foreach_mul(a, 0.5)),
        "foreach_norm": of_list(torch._foreach_norm),
    },
    "gamma": {
        **unaries(torch, "lgamma digamma"),
        "polygamma": of(lambda a: torch.polygamma(1, a)),
        "igamma": binary(torch.igamma),
    },
    "gather": {
        "gather": lambda x: lambda: x.a.gather(0, x.index.expand(x.shape)),
        "index_select": lambda x: lambda: x.a.index_select(0, x.index),
    },
    "grad_scaling": {"unscale": unscale},
    "grid_sample": {"grid_sample": grid_sample},
    "group_norm": {"group_norm": of_image(lambda a: functional.group_norm(a, 4))},
    "index_fill": {"index_fill": lambda x: lambda: x.a.index_fill(0, x.index, 1.5)},
    "layer_norm": {
        "layer_norm": lambda x: lambda: functional.layer_norm(x.a, x.shape[1:], x.row, x.row),
        "layer_norm_short_rows": short_rows(lambda a: functional.layer_norm(a, (SHORT,))),
        "layer_norm_backward": backward(
            lambda x, a: functional.layer_norm(a, x.shape[1:], x.row, x.row) * x.b
        ),
    },
    "linalg": {
        "cholesky": of_matrices(torch.linalg.cholesky),
        "solve_triangular": of_matrices(lambda a: torch.linalg.solve_triangular(a, a, upper=False)),
        "qr": of_matrices(torch.linalg.qr),
        "cholesky_of_a_large_matrix": of_a_large_matrix(torch.linalg.cholesky),
        "solve_triangular_of_a_large_matrix": of_a_large_matrix(
            lambda a: torch.linalg.solve_triangular(a, a, upper=False)
        ),
        "qr_of_a_large_matrix": of_a_large_matrix(torch.linalg.qr),
    },
    "linalg_lu": {
        "lu_factor": of_matrices(torch.linalg.lu_factor),
        "lu_factor_of_a_large_matrix": of_a_large_matrix(torch.linalg.lu_factor),
    },
    "logical": {
        "logical_and": of_bools(lambda a: a.logical_and(a)),
        "logical_not": of_bools(torch.logical_not),
    },
    "matmul": {
        "mm": lambda x: lambda: x.a @ x.b,
        "mm_transposed": lambda x: lambda: x.a @ x.b.t(),
        "mv": lambda x: lambda: x.a @ x.row,
        "mv_short_rows": mv_short_rows,
        "addmm": lambda x: lambda: torch.addmm(x.row, x.a, x.b),
    },
    "max_pooling": {"max_pool2d": of_image(lambda a: functional.max_pool2d(a, 2))},
    "multinomial": {"multinomial": of(lambda a: torch.multinomial(a, 4))},
    "nll_loss": {
        "cross_entropy": lambda x: lambda: functional.cross_entropy(x.a, x.index),
        "nll_loss": of_scores(functional.nll_loss),
    },
    "nonzero": {
        "nonzero": of_bools(torch.nonzero),
        "masked_select": lambda x: lambda: x.a.masked_select(x.mask),
    },
    "norm": {
        "norm": of(lambda a: torch.linalg.vector_norm(a)),
        "norm_rows": of(lambda a: torch.linalg.vector_norm(a, dim=1)),
    },
    "optimizer": {"fused_adamw": adamw},
    "orthogonal_polynomial": {
        "legendre_polynomial_p": degrees(torch.special.legendre_polynomial_p),
        "chebyshev_polynomial_t": degrees(torch.special.chebyshev_polynomial_t),
    },
    "padding": {
        "pad_constant": of_image(lambda a: functional.pad(a, (1, 2, 1, 2))),
        "pad_reflect": of_image(lambda a: functional.pad(a, (1, 2, 1, 2), "reflect")),
    },
    "power": {
        **unaries(torch, "sqrt rsqrt reciprocal"),
        "pow": binary(torch.pow),
        "square": of(torch.square),
    },
    "random": {
        "uniform": of(lambda a: torch.empty_like(a).uniform_()),
        "normal": of(lambda a: torch.empty_like(a).normal_()),
    },
    "randperm": {"randperm": lambda x: lambda: torch.randperm(x.n, device=x.a.device)},
    "rearrange": {
        "flip": of(lambda a: a.flip(1)),
        "roll": of(lambda a: a.roll(3, 1)),
        "repeat": of(lambda a: a[: a.shape[0] // 2].repeat(2, 1)),
    },
    "reduction": {
        "sum": of(lambda a: a.sum()),
        "sum_rows": of(lambda a: a.sum(1)),
        "sum_columns": of(lambda a: a.sum(0)),
        "sum_short_rows": short_rows(lambda a: a.sum(1)),
        "mean": of(lambda a: a.mean(1)),
        "amax": of(lambda a: a.amax(1)),
        "amax_short_rows": short_rows(lambda a: a.amax(1)),
        "max_dim": of(lambda a: a.max(1)),
    },
    "regression_loss": binaries(functional, "mse_loss smooth_l1_loss"),
    "rms_norm": {"rms_norm": rms_norm},
    "rounding": unaries(torch, "floor round"),
    "scatter": {
        "scatter": lambda x: lambda: x.a.scatter(0, x.index.expand(x.shape), x.b),
        "scatter_add": lambda x: lambda: x.a.scatter_add(0, x.index.expand(x.shape), x.b),
        "index_add": lambda x: lambda: x.a.index_add(0, x.index, x.b),
    },
    "sign": unaries(torch, "neg abs sign"),
    "slice": {"slice_backward": backward(lambda x, a: a[1:, 2:] * 2)},
    "softmax": {
        "softmax": of(lambda a: torch.softmax(a, 1)),
        "softmax_columns": of(lambda a: torch.softmax(a, 0)),
        "softmax_short_rows": short_rows(lambda a: torch.softmax(a, 1)),
        "log_softmax": of(lambda a: torch.log_softmax(a, 1)),
        "log_softmax_short_rows": short_rows(lambda a: torch.log_softmax(a, 1)),
        "softmax_backward": backward(lambda x, a: torch.softmax(a, 1) * x.b),
    },
    "sort": {"sort": of(lambda a: a.sort(1)), "topk": of(lambda a: a.topk(8, 1))},
    "sparse": {"sparse_mm": sparse},
    "special": {
        "erf": of(torch.erf),
        "entr": single(torch.special.entr),
        "erfcx": single(torch.special.erfcx),
        "log_ndtr": single(torch.special.log_ndtr),
        "ndtri": single(lambda a: torch.special.ndtri(a / 2)),
        "erfinv": single(lambda a: torch.erfinv(a - 1)),
        "xlog1py": binary(torch.special.xlog1py),
    },
    "std_var": {"var": of(lambda a: a.var(1)), "std": of(lambda a: a.std())},
    "ternary": {
        "addcmul": lambda x: lambda: torch.addcmul(x.a, x.b, x.c),
        "lerp": lambda x: lambda: torch.lerp(x.a, x.b, 0.3),
    },
    "trigonometry": {**unaries(torch, "sin cos atan"), "atan2": binary(torch.atan2)},
    "tril": {"tril": of(lambda a: a.tril())},
    "unfold": {"unfold": of_image(lambda a: functional.unfold(a, 3, padding=1), 4)},
    "unique": {"unique": lambda x: lambda: torch.unique(x.index)},
    "upsample_linear": {
        "upsample_bilinear": of_image(
            lambda a: functional.interpolate(a, scale_factor=2, mode="bilinear"), 4
        )
    },
    "upsample_nearest": {
        "upsample_nearest": of_image(lambda a: functional.interpolate(a, scale_factor=2), 4)
    },
    "where": {
        "where": lambda x: lambda: torch.where(x.mask, x.a, x.b),
        "masked_fill": lambda x: lambda: x.a.masked_fill(x.mask, 0.0),
    },
}

SINGLES = """
polar multiply real ctc_loss grid_sample unscale cholesky solve_triangular qr lu_factor sparse_mm
cholesky_of_a_large_matrix solve_triangular_of_a_large_matrix qr_of_a_large_matrix
lu_factor_of_a_large_matrix fft fft_of_several_factors fft_of_a_prime rfft
legendre_polynomial_p chebyshev_polynomial_t entr erfcx log_ndtr ndtri erfinv bessel_j0
modified_bessel_k0 bitwise_and bitwise_not randperm arange unique
"""
FLOAT32_ONLY = frozenset(SINGLES.split())
"""Rows that are the same in every dtype, or that torch has only in float32."""

WITHOUT_PEER = {
    "active_rotated_filter": "MMCV's",
    "attention_inference": "of serving engines",
    "attention_varlen": "torch has it only on GPUs",
    "box_overlap": "MMCV's",
    "carafe": "MMCV's",
    "correlation": "MMCV's",
    "deformable_attention": "MMCV's",
    "deformable_convolution": "MMCV's",
    "feed_forward": "of serving engines",
    "focal_loss": "MMCV's",
    "masked_convolution": "MMCV's",
    "memory_format": "for devices with private formats",
    "nms": "torchvision's",
    "point_grouping": "MMCV's",
    "point_neighbors": "MMCV's",
    "points_in_regions": "MMCV's",
    "pooling": "its kernels are the kernels of avg_pooling and max_pooling",
    "psamask": "MMCV's",
    "roi_align": "torchvision's",
    "roi_pooling": "torchvision's",
    "rotary_embedding": "of serving engines",
    "sparse_convolution": "MMCV's",
    "sync_batch_norm": "torch has it only on GPUs",
    "temporal_shift": "MMCV's",
    "token_batch": "of serving engines",
    "token_sampling": "of serving engines",
    "upfirdn2d": "MMCV's",
    "voxel": "MMCV's",
}
"""Families without a counterpart on torch's CPU, with reasons."""
