"""Handwritten calls of overloads that neither OpInfo nor the other tables of this folder call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn.attention import SDPBackend

from .cell_formulas import gru_cell, gru_cell_backward, lstm_cell, lstm_cell_backward

Written = tuple[tuple[Any, ...], dict[str, Any], bool]
"""Positional arguments, named arguments, and whether every element of the result is a draw of its
own."""


def _call(*args: Any, **kwargs: Any) -> Written:
    return args, kwargs, False


def _draws(*args: Any, **kwargs: Any) -> Written:
    return args, kwargs, True


def _numbers(*shape: int, low: float = -1.0, high: float = 1.0, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator) * (high - low) + low


_X = _numbers(3, 5)
_POSITIVE = _numbers(3, 5, low=0.5, high=4.0)
_INDICES = torch.tensor([2, 0, 2, 3])
_COMPLEX = torch.complex(_X, _POSITIVE)
# Gradient, indices and offsets of two bags; the bag of each index, and the sizes of the bags.
_BAGS = (_numbers(2, 5), torch.tensor([3, 0, 3, 2, 1]), torch.tensor([0, 2]))
_SPREAD, _SIZES = torch.tensor([0, 0, 1, 1, 1]), torch.tensor([2, 3])
_NO_MAXIMA = torch.zeros(2, 5, dtype=torch.int64)
_IMAGE, _SOLID = _numbers(2, 3, 6, 7), _numbers(2, 3, 3, 4, 2)
# One value for each channel of the image, and one for each of two ranks.
_THREE, _PAIR = _numbers(3), _numbers(2, 3)
_REPEATED = torch.tensor([[1, 1, 4, 4, 1], [1, 1, 4, 4, 1], [2, 2, 0, 0, 2]])
_PLACES = torch.tensor([[0, 1, 2, 0, 1], [2, 0, 1, 1, 2]])
_SORTED = torch.tensor([-0.5, 0.0, 0.25, 0.75])


def _optimizer(lists: int, **options: Any) -> Written:
    """Return two parameters, their gradients and running averages, and the step counts."""
    given = [
        [_numbers(3, 4, low=0.1, seed=at), _numbers(7, low=0.1, seed=at + 50)]
        for at in range(lists)
    ]
    return _call(*given, [torch.tensor(1.0), torch.tensor(7.0)], **options)


_SEQUENCES = _numbers(6, 2, 4).log_softmax(-1), torch.tensor([[1, 2, 1], [3, 3, 0]])
"""Log-probabilities, and labels, of which the second sequence has fewer."""


_LENGTHS = [6, 5], [3, 2]


def _sequences(*lengths: Any) -> Written:
    """Return the gradient for label sequences, one of which is shorter, with the loss of each."""
    given = *_SEQUENCES, *lengths
    losses, alphas = torch.ops.aten._ctc_loss(*given, 0)
    return _call(_numbers(2, seed=1), *given, losses, alphas, 0)


_ADAM = {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-3, "maximize": False}
_ADAGRAD = {"lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3, "maximize": False}
_SGD = {"weight_decay": 0.1, "momentum": 0.9, "dampening": 0.25, "nesterov": False}
_RATE = torch.tensor(0.05)


def _cell(gates: int) -> Written:
    wide = 6 * gates
    return _call(
        _numbers(3, wide, seed=1),
        _numbers(3, wide, seed=2),
        _numbers(3, 6, seed=3),
        _numbers(wide, seed=4),
        _numbers(wide, seed=5),
    )


# Arguments other than the input are results of other operators for that input.
_INNER, _OUTER = _numbers(3, 8), _numbers(3, 4, seed=1)
_GLU = torch.ops.aten.glu(_INNER, -1)
_SLOPE = torch.ops.aten.glu_backward(_OUTER, _INNER, -1)
_ATTENTION = tuple(_numbers(2, 3, 6, 8, seed=at) for at in range(3))
_SCORES = _ATTENTION[0] @ _ATTENTION[1].mT / 8**0.5
_ATTENDED = _SCORES.softmax(-1) @ _ATTENTION[2]
_NO_NUMBERS = torch.empty(0, dtype=torch.int64)

_GATES = _numbers(3, 24, low=0.1, high=0.9, seed=6)

WRITTEN: Mapping[str, tuple[Written, ...]] = {
    **{
        f"{name}.Scalar": (_call(torch.tensor([5, -7, 1 << 40]), 3),)
        for name in ("__lshift__", "__rshift__", "__ilshift__", "__irshift__")
    },
    "_assert_async": (_call(torch.tensor(1.0)),),
    "_assert_async.msg": (_call(torch.tensor(1.0), "unseen"),),
    "_compute_linear_combination": (_call(_numbers(4, 2, 3), _numbers(5, 4, seed=1)),),
    "_convert_indices_from_coo_to_csr": (_call(torch.tensor([0, 0, 2, 3]), 5),),
    "_convert_indices_from_csr_to_coo": (_call(torch.tensor([0, 2, 3]), _INDICES[:3]),),
    # Strides, padding, dilation; transposed, output padding, groups; four settings of cuDNN.
    "_convolution": (
        _call(
            *(_IMAGE, _numbers(4, 3, 2, 3, seed=1), _numbers(4, seed=2)),
            *([1, 2], [1, 0], [1, 1], False, [0, 0], 1),
            *(False, False, True, True),
        ),
    ),
    "_copy_from": (_call(_X, torch.zeros(3, 5)), _call(_X.t(), torch.zeros(5, 3))),
    "_ctc_loss_backward": (_sequences(*_LENGTHS),),
    "_ctc_loss_backward.Tensor": (_sequences(*map(torch.tensor, _LENGTHS)),),
    "_cummax_helper": (_call(_X, torch.zeros(3, 5), torch.zeros(3, 5, dtype=torch.int64), 1),),
    "_cummin_helper": (_call(_X, torch.zeros(3, 5), torch.zeros(3, 5, dtype=torch.int64), 0),),
    "_functional_assert_async.msg": (_call(torch.tensor(1.0), "unseen", torch.tensor(1.0)),),
    "_embedding_bag_backward": (
        _call(*_BAGS, _SPREAD, _SIZES, _NO_MAXIMA, 6, False, 0, False, None),
    ),
    # Only the largest index repeats: torch's CPU divides the others by wrong frequencies.
    "_embedding_bag_dense_backward": tuple(
        _call(*_BAGS[:2], _SPREAD, _SIZES, _NO_MAXIMA, 6, frequency, mode, None)
        for mode, frequency in ((0, True), (0, False), (1, False))
    ),
    "_embedding_bag_per_sample_weights_backward": (
        _call(_BAGS[0], _numbers(6, 5, seed=1), *_BAGS[1:], _SPREAD, 0),
    ),
    "_embedding_bag_forward_only": (_call(_numbers(6, 5), *_BAGS[1:]),),
    "_fused_adagrad_": (_optimizer(3, lr=0.05, **_ADAGRAD),),
    "_fused_adagrad_.tensor_lr": (_optimizer(3, lr=_RATE, **_ADAGRAD),),
    "_fused_adam_.tensor_lr": (_optimizer(5, lr=_RATE, amsgrad=True, **_ADAM),),
    "_fused_adamw_.tensor_lr": (_optimizer(5, lr=_RATE, amsgrad=True, **_ADAM),),
    "_fused_sgd_.tensor_lr": (
        _call(
            *_optimizer(3)[0][:3],
            lr=_RATE,
            maximize=False,
            is_first_step=False,
            **_SGD,
        ),
    ),
    "_native_batch_norm_legit.no_stats": (
        _call(_numbers(4, 3, 5), _numbers(3), _numbers(3, seed=1), True, 0.1, 1e-5),
        _call(_numbers(4, 3, 2, 2), None, None, True, 0.1, 1e-5),
    ),
    "_scaled_dot_product_flash_attention_for_cpu": (_call(*_ATTENTION),),
    "_scaled_dot_product_flash_attention_for_cpu_backward": (
        _call(
            _numbers(2, 3, 6, 8, seed=9),
            *_ATTENTION,
            _ATTENDED,
            _SCORES.logsumexp(-1),
            0.0,
            False,
        ),
    ),
    "_scaled_dot_product_fused_attention_overrideable": (_call(*_ATTENTION),),
    "_scaled_dot_product_fused_attention_overrideable_backward": (
        _call(
            _numbers(2, 3, 6, 8, seed=9),
            *_ATTENTION,
            None,
            [True, True, True, False],
            _ATTENDED,
            _SCORES.logsumexp(-1),
            _NO_NUMBERS,
            _NO_NUMBERS,
            6,
            6,
            0.0,
            False,
            _NO_NUMBERS,
            _NO_NUMBERS,
        ),
    ),
    "_fused_rms_norm": (_call(_X, [5], _POSITIVE[0], 1e-5),),
    "_fused_rms_norm_backward": (
        _call(_POSITIVE, _X, [5], _POSITIVE[:, :1], _POSITIVE[0], [True, True]),
    ),
    "_fused_sdp_choice": (_call(*_ATTENTION),),
    "_has_compatible_shallow_copy_type": (_call(_X, _POSITIVE),),
    "_lazy_clone": (_call(_X), _call(_X.t())),
    "_make_dep_token": (_call(device=torch.device("cpu")),),
    "_reshape_alias": (_call(_X, [5, 3], [3, 1]),),
    "col2im": (_call(_numbers(2, 12, 30), [6, 7], [2, 2], [1, 1], [0, 0], [1, 1]),),
    "im2col": (_call(_IMAGE, [2, 3], [1, 2], [1, 0], [2, 1]),),
    "scatter.reduce_out": tuple(
        _call(_X, 0, _PLACES, _POSITIVE, kind, out=torch.empty(0)) for kind in ("add", "multiply")
    ),
    "scatter.value_reduce_out": tuple(
        _call(_X, 0, _PLACES, 1.5, kind, out=torch.empty(0)) for kind in ("add", "multiply")
    ),
    "set_": (_call(_numbers(3)),),
    "set_.source_Storage": (_call(_numbers(3), _numbers(8).untyped_storage()),),
    "set_.source_Storage_storage_offset": (
        _call(_numbers(3), _numbers(8).untyped_storage(), 1, [2, 3], [3, 1]),
    ),
    "set_.source_Tensor": (_call(_numbers(3), _X.t()),),
    "unique_consecutive": (_call(_REPEATED[0], True, True), _call(_REPEATED, True, True, 0)),
    "unique_dim": (_call(_REPEATED, 1, True, True, True),),
    "unique_dim_consecutive": (_call(_REPEATED, 1, True, True), _call(_REPEATED, 0, True, True)),
    "conj_physical.out": (_call(_COMPLEX, out=torch.empty(0, dtype=torch.complex64)),),
    "native_dropout": (_draws(_POSITIVE, 0.5, True),),
    "_sample_dirichlet": (_call(_POSITIVE),),
    "_standard_gamma": (_draws(_POSITIVE),),
    "_thnn_fused_gru_cell": (_cell(3),),
    "_thnn_fused_gru_cell_backward": (
        _call(_numbers(3, 6), _numbers(3, 30, low=0.1, high=0.9, seed=1), True),
    ),
    "_thnn_fused_lstm_cell": (_cell(4),),
    "_thnn_fused_lstm_cell_backward_impl": (
        _call(
            _numbers(3, 6),
            _numbers(3, 6, seed=1),
            _numbers(3, 6, seed=2),
            _numbers(3, 6, seed=3),
            _GATES,
            True,
        ),
    ),
    **{
        f"_upsample_{kind}2d_aa": (_call(_IMAGE, [4, 9], False), _call(_IMAGE, [3, 3], True))
        for kind in ("bicubic", "lanczos")
    },
    **{
        f"_upsample_{kind}2d_aa_backward": (
            _call(_numbers(2, 3, 4, 9), [4, 9], [2, 3, 6, 7], False),
        )
        for kind in ("bicubic", "lanczos")
    },
    # The contract's nearest cells equal torch's exact ones at some sizes only.
    "_upsample_nearest_exact2d": (_call(_IMAGE, [12, 14]), _call(_IMAGE, [4, 9])),
    "_upsample_nearest_exact2d_backward": (
        _call(_numbers(2, 3, 12, 14), [12, 14], [2, 3, 6, 7]),
        _call(_numbers(2, 3, 4, 9), [4, 9], [2, 3, 6, 7]),
    ),
    "_upsample_nearest_exact3d": (_call(_SOLID, [6, 8, 4]), _call(_SOLID, [2, 7, 3])),
    "_upsample_nearest_exact3d_backward": (
        _call(_numbers(2, 3, 6, 8, 4), [6, 8, 4], [2, 3, 3, 4, 2]),
        _call(_numbers(2, 3, 2, 7, 3), [2, 7, 3], [2, 3, 3, 4, 2]),
    ),
    # Torch's CPU computes in the memory of the result, which has to have the arguments' shape.
    "binary_cross_entropy.out": tuple(
        _call(_numbers(3, 5, low=0.1, high=0.9), _X.abs(), None, reduction, out=torch.zeros(3, 5))
        for reduction in (0, 1, 2)
    ),
    "batch_norm_stats": (_call(_IMAGE, 1e-5),),
    "batch_norm_gather_stats_with_counts": (
        _call(_IMAGE, _PAIR, _PAIR + 2, _THREE, _THREE + 2, 0.1, 1e-5, torch.tensor([84.0, 42.0])),
    ),
    "batch_norm_elemt": (_call(_IMAGE, _THREE, _THREE, _THREE, _THREE + 2, 1e-5),),
    "batch_norm_backward_reduce": (
        _call(_IMAGE, _IMAGE + 1, _THREE, _THREE + 2, _THREE, True, True, True),
    ),
    "batch_norm_backward_elemt": (
        _call(_IMAGE, _IMAGE + 1, _THREE, _THREE + 2, _THREE, _THREE, _THREE, torch.tensor([84])),
    ),
    "binomial": (_draws(torch.full((3, 5), 9.0), _numbers(3, 5, low=0.1, high=0.9)),),
    "ctc_loss.Tensor": (_call(*_SEQUENCES, *map(torch.tensor, _LENGTHS)),),
    "embedding_renorm_": (_call(_numbers(5, 3) * 4, _INDICES, 1.0, 2.0),),
    "fill_.Tensor": (_call(_X, torch.tensor(2.5)),),
    "glu_backward_jvp": (_call(_SLOPE, _OUTER, _INNER, _OUTER.flip(0), _INNER.flip(1), -1),),
    "glu_jvp": (_call(_GLU, _INNER, _INNER.flip(1), -1),),
    "linalg__powsum": (_call(_X, 3, 1, True),),
    "group_norm": (
        _call(_IMAGE, 3, _numbers(3, seed=1), _numbers(3, seed=2)),
        _call(_IMAGE.to(memory_format=torch.channels_last), 1),
    ),
    "is_set_to": (_call(_X, _X.view(3, 5)), _call(_X, _X.clone())),
    "isin.Scalar_Tensor_out": (_call(0.25, _SORTED, out=torch.empty(0, dtype=torch.bool)),),
    "isin.Tensor_Scalar_out": (_call(_SORTED, 0.25, out=torch.empty(0, dtype=torch.bool)),),
    "poisson": (_draws(_POSITIVE),),
    "pow.Scalar_out": (_call(2.5, _X, out=torch.empty(0)),),
    "remainder.Scalar_Tensor": (_call(2.5, _POSITIVE),),
}
"""Calls by overload. Where CPU kernels are missing, FORMULAS has the references."""


def _copy(source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    return target.copy_(source)


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> Any:
    scores = query @ key.mT / query.size(-1) ** 0.5
    return (scores.softmax(-1) @ value,)


def _attention_backward(
    grad: torch.Tensor, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *_: Any
) -> Any:
    given = [each.detach().requires_grad_() for each in (query, key, value)]
    with torch.enable_grad():
        (result,) = _attention(*given)
        return (*torch.autograd.grad(result, given, grad), None)


def _into_given(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return the out= form."""

    def call(*args: Any, **outs: torch.Tensor) -> Any:
        results = formula(*args)
        return tuple(
            out.resize_(result.shape).copy_(result)
            for out, result in zip(outs.values(), results, strict=True)
        )

    return call


_CELLS = {
    "_thnn_fused_gru_cell": gru_cell,
    "_thnn_fused_gru_cell_backward": gru_cell_backward,
    "_thnn_fused_lstm_cell": lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
}

FORMULAS: Mapping[str, Callable[..., Any]] = {
    "_copy_from": _copy,
    # Makes torch ask dl for its own attention.
    "_fused_sdp_choice": lambda *_: SDPBackend.OVERRIDEABLE.value,
    "_scaled_dot_product_fused_attention_overrideable": _attention,
    "_scaled_dot_product_fused_attention_overrideable_backward": _attention_backward,
    **_CELLS,
    **{f"{name}.out": _into_given(formula) for name, formula in _CELLS.items()},
}
"""Formulas of overloads without a kernel for the CPU."""
