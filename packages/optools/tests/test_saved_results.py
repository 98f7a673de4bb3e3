"""Results saved for a gradient: a wrong one is blamed on the operator that computed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)

from dl_optools.compare.equivalents import EQUIVALENTS
from faulty_device import compared

A = torch.ops.aten
Work = Callable[[], Any]
torch.manual_seed(0)
X, IMAGE = torch.randn(6, 8), torch.randn(2, 3, 8, 8)
SQUARE = torch.randn(2, 5, 5)
INDICES, OFFSETS = torch.tensor([1, 2, 2, 0, 3, 1]), torch.tensor([0, 2, 2, 5])
PROBABILITIES = torch.randn(7, 2, 4).log_softmax(-1)
TARGETS = torch.tensor([[1, 2, 2], [3, 1, 0]])
HEADS = torch.randn(3, 2, 4, 5, 8)
ATTENTION = A._scaled_dot_product_fused_attention_overrideable
GATES = torch.randn(2, 3, 16)


def bags(mode: int) -> Work:
    return lambda: A._embedding_bag(X, INDICES, OFFSETS, False, mode, False, None, False, 2)


SAVED: dict[str, tuple[Work, list[int]]] = {
    "_batch_norm_with_update.default": (
        lambda: A._batch_norm_with_update(
            IMAGE, None, None, torch.zeros(3), torch.ones(3), 0.1, 1e-5
        ),
        [1, 2],
    ),
    "_ctc_loss.default": (
        lambda: A._ctc_loss(PROBABILITIES, TARGETS, [7, 5], [3, 2]),
        [0, 1],
    ),
    "_embedding_bag.default": (bags(2), [1, 2, 3]),
    "_linalg_det.default": (lambda: A._linalg_det(SQUARE), [1, 2]),
    "_linalg_eigh.default": (lambda: A._linalg_eigh(SQUARE), [0, 1]),
    "_linalg_slogdet.default": (lambda: A._linalg_slogdet(SQUARE), [2, 3]),
    "_linalg_solve_ex.default": (lambda: A._linalg_solve_ex(SQUARE, SQUARE), [1, 2, 3]),
    "_linalg_svd.default": (lambda: A._linalg_svd(SQUARE[:, :3]), [0, 1, 2]),
    "_native_batch_norm_legit.no_stats": (
        lambda: A._native_batch_norm_legit.no_stats(IMAGE, None, None, True, 0.1, 1e-5),
        [1, 2],
    ),
    "_scaled_dot_product_flash_attention_for_cpu.default": (
        lambda: A._scaled_dot_product_flash_attention_for_cpu(*HEADS, is_causal=True),
        [1],
    ),
    "_scaled_dot_product_fused_attention_overrideable.default": (lambda: ATTENTION(*HEADS), [1]),
    "_thnn_fused_gru_cell.default": (
        lambda: A._thnn_fused_gru_cell(*GATES[:, :, :12], X[:3, :4]),
        [1],
    ),
    "_thnn_fused_lstm_cell.default": (
        lambda: A._thnn_fused_lstm_cell(*GATES, X[:3, :4]),
        [1, 2],
    ),
    "_weight_norm_interface.default": (lambda: A._weight_norm_interface(X, torch.ones(6, 1)), [1]),
    "adaptive_max_pool2d.default": (lambda: A.adaptive_max_pool2d(IMAGE, [3, 3]), [1]),
    "cummax.default": (lambda: A.cummax(X, 1), [1]),
    "fractional_max_pool2d.default": (
        lambda: A.fractional_max_pool2d(IMAGE, [2, 2], [4, 4], torch.full((2, 3, 2), 0.4)),
        [1],
    ),
    "linalg_cholesky_ex.default": (
        lambda: A.linalg_cholesky_ex(SQUARE @ SQUARE.mT + torch.eye(5)),
        [0, 1],
    ),
    "linalg_eig.default": (lambda: A.linalg_eig(SQUARE), [1]),
    "linalg_lu.default": (lambda: A.linalg_lu(SQUARE), [0, 1, 2]),
    "linalg_lu_factor_ex.default": (lambda: A.linalg_lu_factor_ex(SQUARE), [0, 1]),
    "linalg_qr.default": (lambda: A.linalg_qr(SQUARE), [0, 1]),
    "log_sigmoid_forward.default": (lambda: A.log_sigmoid_forward(X), [1]),
    "max.dim": (lambda: A.max.dim(X, 1), [1]),
    "max_pool2d_with_indices.default": (
        lambda: A.max_pool2d_with_indices(IMAGE.relu(), [2, 2], [], [1, 1]),
        [1],
    ),
    "multilabel_margin_loss_forward.default": (
        lambda: A.multilabel_margin_loss_forward(X, torch.tensor([[1, 3, -1] + [0] * 5] * 6), 1),
        [1],
    ),
    "native_batch_norm.default": (
        lambda: A.native_batch_norm(IMAGE, None, None, None, None, True, 0.1, 1e-5),
        [1, 2],
    ),
    "native_group_norm.default": (
        lambda: A.native_group_norm(IMAGE, None, None, 2, 3, 64, 3, 1e-5),
        [1, 2],
    ),
    "native_layer_norm.default": (lambda: A.native_layer_norm(X, [8], None, None, 1e-5), [1, 2]),
    "nll_loss_forward.default": (
        lambda: A.nll_loss_forward(X, torch.arange(6), None, 1, -100),
        [1],
    ),
    "topk.default": (lambda: A.topk(X, 3), [1]),
}
"""Calls of operators with results that gradients read, and the positions of these."""

FUSED = {
    name: instead
    for name, instead in EQUIVALENTS.items()
    if any(each.startswith(f"{name}.") for each in SAVED)
}


def on_the_device(func: Any, args: Any, kwargs: Any) -> Any:
    """Run device-only operators, too."""
    own = FUSED.get(func._schema.name.partition("::")[2])
    if own is None:
        return func(*args, **kwargs)
    kinds = [str(each.type) for each in func._schema.returns]
    nothing = {"Tensor": torch.empty(0), "int": 0}
    found = zip(own(*args, **kwargs), kinds, strict=True)
    return tuple(nothing[kind] if value is None else value for value, kind in found)


def spoilt_at(at: int) -> Callable[..., Any]:
    """Change a value into a valid but wrong bag, row or pivot."""

    def compute(func: Any, args: Any, kwargs: Any) -> Any:
        parts = list(on_the_device(func, args, kwargs))
        flat = parts[at].flatten()
        places = (flat.isfinite() & (flat != 0)).nonzero().flatten()
        place = int(places[0]) if len(places) else 0
        value = flat[place]
        flat[place] = ~value if value.dtype is torch.bool else value * 1.03 + 1
        parts[at] = flat.view(parts[at].shape)
        return tuple(parts)

    return compute


@pytest.mark.parametrize(
    ("name", "at"), [(name, at) for name, (_, places) in SAVED.items() for at in places]
)
def test_a_wrong_saved_result_accuses_the_operator_that_made_it(name: str, at: int) -> None:
    tool = compared(SAVED[name][0], f"aten.{name}", instead=spoilt_at(at))
    assert tool.results.guilty == [f"aten.{name}"]


def test_right_saved_results_accuse_no_operator_and_none_is_left_out() -> None:
    for name in FUSED:
        tool = compared(SAVED[f"{name}.default"][0], f"aten.{name}.default", instead=on_the_device)
        assert tool.results.guilty == [] and tool.results.checked == 1
        assert not tool.results.unjudged
    calls = [call for name, (call, _) in SAVED.items() if name.partition(".")[0] not in FUSED]
    tool = compared(lambda: [call() for call in [*calls, bags(0), bags(1)]])
    assert tool.results.guilty == [] and not tool.results.not_comparable
    assert not tool.results.unjudged


def test_an_index_of_an_equal_value_in_another_window_is_wrong() -> None:
    """After a ReLU most windows contain the same zeros."""
    x = torch.zeros(1, 1, 6, 6)
    name = "aten.max_pool2d_with_indices.default"

    def shift(by: int) -> Callable[..., Any]:
        def compute(func: Any, args: Any, kwargs: Any) -> Any:
            values, indices = func(*args, **kwargs)
            return values, (indices + by) % 36

        return compute

    for by, guilty in ((0, []), (1, []), (7, []), (2, [name]), (12, [name]), (18, [name])):
        tool = compared(lambda: F.max_pool2d(x, 2, return_indices=True), name, instead=shift(by))
        assert tool.results.guilty == guilty


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("linalg_qr.default", lambda q, r: (-q, -r)),
        ("_linalg_eigh.default", lambda w, v: (w, -v)),
        ("_linalg_svd.default", lambda u, s, v: (-u, s, -v)),
        ("linalg_eig.default", lambda w, v: (w, v * 1j)),
    ],
)
def test_factors_with_signs_of_their_own_are_right(name: str, other: Callable[..., Any]) -> None:
    tool = compared(SAVED[name][0], f"aten.{name}", lambda result: other(*result))
    assert tool.results.guilty == [] and tool.results.checked == 1


def test_rows_that_see_no_key_have_no_sum_of_scores() -> None:
    mask = torch.zeros(5, 5)
    mask[1] = -torch.inf
    name = "aten._scaled_dot_product_flash_attention_for_cpu.default"

    def call() -> None:
        A._scaled_dot_product_flash_attention_for_cpu(*HEADS, attn_mask=mask)

    for value, row, guilty in ((7.0, 1, []), (-torch.inf, 1, []), (7.0, 2, [name])):

        def wrong(result: Any, value: float = value, row: int = row) -> Any:
            result[1][..., row] = value
            return result

        assert compared(call, name, wrong).results.guilty == guilty
