"""Cases of reductions, normalizations and losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from .case import OUT, Case, Ref, booleans, case, positive, real, t, whole

aten = torch.ops.aten


def _reductions() -> Iterator[Case]:
    x, flags = real(2, 3, 4), booleans(2, 3, 4)
    yield case("All", [flags, [1], True, OUT], t(flags).all(1, keepdim=True))
    yield case("All", [flags, [0, 2], False, OUT], t(flags).all(2).all(0))
    yield case("Any", [flags, [1], False, OUT], t(flags).any(1))
    yield case("ReduceSum", [x, [0, 2], False, "float32", OUT], t(x).sum((0, 2)))
    yield case("ReduceSum", [x, [], False, "float32", OUT], t(x).sum())
    yield case("Mean", [x, [-1], True, "float32", OUT], t(x).mean(-1, keepdim=True))
    yield case("ProdDim", [x, 1, False, "float32", OUT], t(x).prod(1))
    yield case("Std", [x, [0, 1], 2, True, OUT], t(x).std((0, 1), correction=2, keepdim=True))
    yield case("Max", [x, OUT], t(x).max())
    yield case("Min", [x, OUT], t(x).min())
    for name in "max", "min":
        values, indices = getattr(t(x), name)(1, keepdim=True)
        # The smallest elements' positions are int32.
        indices = indices.int() if name == "min" else indices
        yield case(f"{name.title()}Dim", [x, 1, True, OUT, OUT], values, indices)
        found = getattr(torch, f"arg{name}")(t(x), 2)
        yield case(f"Arg{name.title()}", [x, 2, False, OUT], found)
    yield case("Amax", [x, [0, 2], True, OUT], t(x).amax((0, 2), keepdim=True))
    yield case("Norm", [x, 3.0, [1], False, OUT], t(x).norm(3, (1,)))
    norm = torch.linalg.vector_norm(t(x), 3, (0, 2), True)
    yield case("LinalgVectorNorm", [x, 3.0, [0, 2], True, "float32", OUT], norm)
    yield case("Cumsum", [x, 1, "float32", OUT], t(x).cumsum(1))
    backwards = t(x).flip(1).cumsum(1).flip(1)
    yield case("CumsumV2", [x, 1, False, True, OUT], backwards)
    yield case("CumsumV2", [x, 1, True, False, OUT], t(x).cumsum(1) - t(x))
    yield case("Equal", [x, x, OUT], np.array([True]))
    yield case("Equal", [x, x + 1, OUT], np.array([False]))
    a, b, g = real(3, 5), real(4, 5), real(3, 4)
    distance = torch.cdist(t(a), t(b), 3.0)
    yield case("Cdist", [a, b, 3.0, 0, OUT], distance)
    of_a = aten._cdist_backward(t(g), t(a), t(b), 3.0, distance)
    yield case("CdistBackward", [g, a, b, distance.numpy(), 3.0, OUT], of_a)
    v, i = t(x).topk(2, 1)
    yield case("Topk", [x, 2, 1, True, True, OUT, OUT], v, i)
    v, i = t(x).sort(dim=1, descending=True, stable=True)
    yield case("Sort", [x, True, 1, True, OUT, OUT], v, i)


def _softmax() -> Iterator[Case]:
    x, g = real(2, 3, 4), real(2, 3, 4)
    for name, function, back in (
        ("Softmax", torch.softmax, aten._softmax_backward_data),
        ("LogSoftmax", torch.log_softmax, aten._log_softmax_backward_data),
    ):
        out = function(t(x), 1)
        yield case(name, [x, 1, OUT], out)
        of_x = back(t(g), out, 1, torch.float32)
        yield case(f"{name}Backward", [g, out.numpy(), 1, OUT], of_x)
    x, g, mask = real(2, 3, 4, 4), real(2, 3, 4, 4), booleans(2, 1, 4, 4)
    leaf = t(x).requires_grad_()
    out = torch.softmax((leaf * 0.5).masked_fill(t(mask), -10000.0), -1)
    out.backward(t(g))
    yield case("ScaledMaskedSoftmax", [x, mask, 0.5, False, OUT], out)
    arguments = [g, out.detach().numpy(), mask, 0.5, False, OUT]
    yield case("ScaledMaskedSoftmaxBackward", arguments, leaf.grad)


def _batch_norm() -> Iterator[Case]:
    x, g = real(4, 3, 5), real(4, 3, 5)
    w, b, mean, var = real(3), real(3), real(3), positive(3)
    rm, rv = t(mean), t(var)
    out, sm, si = aten.native_batch_norm(t(x), t(w), t(b), rm, rv, True, 0.1, 1e-3)
    arguments = [x, w, b, Ref(mean), Ref(var), True, 0.1, 1e-3, OUT, OUT, OUT]
    yield case("BatchNorm", arguments, rm, rv, out, sm, si)
    saved = [sm.numpy(), si.numpy()]
    for train in True, False:
        back = aten.native_batch_norm_backward(
            t(g), t(x), t(w), t(mean), t(var), sm, si, train, 1e-3, [True, True, True]
        )
        tail = [train, 1e-3, [True, True, True], OUT, OUT, OUT]
        yield case("BatchNormBackward", [g, x, w, mean, var, *saved, *tail], *back)
    mean, inv = t(x).mean((0, 2)), 1 / (t(x).var((0, 2), correction=0) + 1e-3).sqrt()
    yield case("BatchNormStats", [x, 1e-3, OUT, OUT], mean, inv)
    m, i = mean.numpy(), inv.numpy()
    shift = (t(x) - mean[:, None]) * inv[:, None] * t(w)[:, None] + t(b)[:, None]
    yield case("BatchNormElemt", [x, w, b, m, i, 1e-3, OUT], shift)
    far = t(x) - mean[:, None]
    dy, dx = t(g).sum((0, 2)), (t(g) * far).sum((0, 2))
    arguments = [g, x, m, i, w, True, True, True, OUT, OUT, OUT, OUT]
    yield case("BatchNormReduceBackward", arguments, dy, dx, dx * inv, dy)
    means, invs, counts = real(2, 3), positive(2, 3), np.array([4, 6], "float32")
    weights = t(counts)[:, None] / 10
    together = (t(means) * weights).sum(0)
    spread = ((1 / t(invs) ** 2 - 1e-3 + (t(means) - together) ** 2) * weights).sum(0)
    rm, rv = positive(3), positive(3)
    after = (t(rm) * 0.9 + 0.1 * together, t(rv) * 0.9 + 0.1 * spread * 10 / 9)
    arguments = [x, means, invs, Ref(rm), Ref(rv), 0.1, 1e-3, counts, OUT, OUT]
    combined = (together, 1 / (spread + 1e-3).sqrt())
    yield case("BatchNormGatherStatsWithCounts", arguments, *after, *combined, tolerance=1e-4)
    count = np.array([20], "int32")
    of_x = (t(g) - (dy / 20)[:, None] - far * (inv * inv * dx / 20)[:, None]) * (inv * t(w))[
        :, None
    ]
    arguments = [g, x, m, i, w, dy.numpy(), dx.numpy(), count, OUT]
    yield case("BatchNormElemtBackward", arguments, of_x)


def _norms() -> Iterator[Case]:
    x, g, w, b = real(2, 3, 4), real(2, 3, 4), real(4), real(4)
    out, mean, rstd = aten.native_layer_norm(t(x), [4], t(w), t(b), 1e-3)
    yield case("LayerNorm", [x, [4], w, b, 1e-3, OUT, OUT, OUT], out, mean, rstd)
    mask = [True, True, True]
    back = aten.native_layer_norm_backward(t(g), t(x), [4], mean, rstd, t(w), t(b), mask)
    stats = [mean.numpy(), rstd.numpy()]
    yield case("LayerNormBackward", [g, x, [4], *stats, w, b, mask, OUT, OUT, OUT], *back)
    x, g, w, b = real(2, 6, 5), real(2, 6, 5), real(6), real(6)
    out, mean, rstd = aten.native_group_norm(t(x), t(w), t(b), 2, 6, 5, 3, 1e-3)
    yield case("GroupNorm", [x, w, b, 2, 6, 5, 3, 1e-3, OUT, OUT, OUT], out, mean, rstd)
    back = aten.native_group_norm_backward(t(g), t(x), mean, rstd, t(w), 2, 6, 5, 3, mask)
    arguments = [g, x, mean.numpy(), rstd.numpy(), w, 2, 6, 5, 3, mask, OUT, OUT, OUT]
    yield case("GroupNormBackward", arguments, *back)
    x, y, g, w = real(2, 3, 4), real(2, 3, 4), real(2, 3, 4), real(4)
    leaves = [t(x).requires_grad_(), t(w).requires_grad_()]
    rstd = (leaves[0].square().mean(-1, keepdim=True) + 1e-3).rsqrt()
    out = leaves[0] * rstd * leaves[1]
    out.backward(t(g))
    yield case("RmsNorm", [x, w, 1e-3, OUT, OUT], out, rstd)
    grads = [leaf.grad for leaf in leaves]
    yield case("RmsNormGrad", [g, x, rstd.detach().numpy(), w, OUT, OUT], *grads)
    both = t(x) + t(y)
    rstd = (both.square().mean(-1, keepdim=True) + 1e-3).rsqrt()
    out = both * rstd * t(w)
    yield case("AddRmsNorm", [x, y, w, 1e-3, OUT, OUT, OUT], out, rstd, both)


def _losses() -> Iterator[Case]:
    x, y, g = real(4, 3), real(4, 3), real(4, 3)

    def pair(name: str, function: Any, *extra: Any, last: bool = True) -> Iterator[Case]:
        for number, reduction in enumerate(("none", "mean", "sum")):
            leaf = t(x).requires_grad_()
            out = function(leaf, t(y), reduction=reduction)
            grad = g if number == 0 else np.array(g[0, 0])
            out.backward(t(grad))
            yield case(name, [x, y, number, *extra, OUT], out)
            yield case(f"{name}Backward", [grad, x, y, number, *extra, OUT], leaf.grad)

    yield from pair("MseLoss", functional.mse_loss)
    yield from pair(
        "SmoothL1Loss", lambda a, b, **k: functional.smooth_l1_loss(a, b, beta=0.5, **k), 0.5
    )
    p, q, w, pw = positive(4, 3), positive(4, 3), positive(4, 3), positive(3)
    for number, reduction in enumerate(("none", "mean", "sum")):
        grad = g if number == 0 else np.array(g[0, 0])
        leaf = t(p).requires_grad_()
        out = functional.binary_cross_entropy(leaf, t(q), t(w), reduction=reduction)
        out.backward(t(grad))
        yield case("BinaryCrossEntropy", [p, q, w, number, OUT], out)
        yield case("BinaryCrossEntropyBackward", [grad, p, q, w, number, OUT], leaf.grad)
        leaf = t(x).requires_grad_()
        out = functional.binary_cross_entropy_with_logits(
            leaf, t(q), t(w), pos_weight=t(pw), reduction=reduction
        )
        out.backward(t(grad))
        name = "BinaryCrossEntropyWithLogits"
        yield case(name, [x, q, w, pw, number, OUT], out)
        yield case(f"{name}Backward", [grad, x, q, w, pw, number, OUT], leaf.grad)
        logits, target, weight = real(5, 3), np.array([0, 2, 1, 2, 0]), positive(3)
        out, total = aten.nll_loss_forward(t(logits), t(target), t(weight), number, 2)
        yield case("NLLLoss", [logits, target, weight, number, 2, OUT, OUT], out, total)
        grad = real(*out.shape)
        arguments = (t(grad), t(logits), t(target), t(weight), number, 2, total)
        back = aten.nll_loss_backward(*arguments)
        values = [grad, logits, target, weight, number, 2, total.numpy(), OUT]
        yield case("NLLLossBackward", values, back)


def _ctc() -> Iterator[Case]:
    logits = t(real(6, 2, 4)).log_softmax(2)
    targets, inputs, lengths = whole(4, 2, 2, low=1), [6, 6], [2, 2]
    loss, alpha = aten._ctc_loss(logits, t(targets), inputs, lengths, 0, False)
    arguments = [logits.numpy(), targets, inputs, lengths, 0, False, OUT, OUT]
    yield case("CtcLoss", arguments, loss, alpha)
    g = real(2)
    back = aten._ctc_loss_backward(t(g), logits, t(targets), inputs, lengths, loss, alpha, 0, False)
    stored = [loss.numpy(), alpha.numpy()]
    values = [g, logits.numpy(), targets, inputs, lengths, *stored, 0, False, OUT]
    yield case("CtcLossBackward", values, back)


def cases() -> Iterator[Case]:
    """Return the cases."""
    for group in _reductions, _softmax, _batch_norm, _norms, _losses, _ctc:
        yield from group()
