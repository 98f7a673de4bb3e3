"""Cases of products, convolutions, pooling, attention, optimizers and images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from .case import OUT, Case, Ref, booleans, case, positive, real, t, whole

aten = torch.ops.aten


def _products() -> Iterator[Case]:
    a, b, c = real(3, 4), real(4, 5), real(3, 5)
    yield case("Mm", [a, b, OUT, 0], t(a) @ t(b))
    yield case("Matmul", [a, b, OUT, 0], t(a) @ t(b))
    yield case("Addmm", [c, a, b, 2.0, 3.0, OUT, 0], 2 * t(c) + 3 * (t(a) @ t(b)))
    a, b, c = real(2, 3, 4), real(2, 4, 5), real(2, 3, 5)
    yield case("BatchMatMul", [a, b, OUT, 0], t(a) @ t(b))
    mixed = 2 * t(c) + 3 * (t(a) @ t(b))
    yield case("Baddbmm", [c, a, b, 2.0, 3.0, OUT, 0], mixed)
    yield case("InplaceBaddbmm", [Ref(c), a, b, 2.0, 3.0, 0], mixed)
    a, b, bias = (x.astype("float16") for x in (real(3, 4), real(4, 5), real(5)))
    arguments = [a, b, bias, "group", "sum", 0, 1, OUT]
    yield case("MatmulAllReduce", arguments, t(a) @ t(b) + t(bias), tolerance=1e-2)
    m = real(4, 4)
    m = m @ m.T + 4 * np.eye(4, dtype="float32")
    for upper in False, True:
        factor = torch.linalg.cholesky(t(m), upper=upper)
        yield case("LinalgCholesky", [m, upper, OUT], factor)
    q, r = torch.linalg.qr(t(m))
    yield case("LinalgQr", [m, 0, OUT, OUT], q, r, tolerance=1e-4)
    rhs = real(4, 2)
    for upper, transpose, unit in (True, False, False), (False, True, True):
        solved, copy = aten.triangular_solve(t(rhs), t(m), upper, transpose, unit)
        arguments = [rhs, m, upper, transpose, unit, OUT, OUT]
        yield case("TriangularSolve", arguments, solved, copy, tolerance=1e-4)


def _convolutions() -> Iterator[Case]:
    for sizes, transposed in (((9,), False), ((7, 8), False), ((7, 8), True), ((5, 4, 6), False)):
        n = len(sizes)
        x, b = real(2, 4, *sizes), real(6)
        kernel = (3, 2, 2)[:n]
        w = real(4, 3, *kernel) if transposed else real(6, 2, *kernel)
        stride, padding, dilation, extra = [2] * n, [1] * n, [1, 2, 1][:n], [0] * n
        if transposed:
            extra = [1] * n
        out = aten.convolution(t(x), t(w), t(b), stride, padding, dilation, transposed, extra, 2)
        tail = [stride, padding, dilation, transposed, extra, 2]
        yield case("Convolution", [x, w, b, *tail, OUT, 0], out, tolerance=1e-4)
        g = real(*out.shape)
        for mask in ([True, True, True], [False, True, False]):
            back = aten.convolution_backward(
                t(g), t(x), t(w), [6], stride, padding, dilation, transposed, extra, 2, mask
            )
            outs = [OUT if wanted else None for wanted in mask]
            wanted = [each for each, flag in zip(back, mask, strict=True) if flag]
            arguments = [g, x, w, [6], *tail, mask, 0, *outs]
            yield case("ConvolutionBackward", arguments, *wanted, tolerance=1e-4)


def _pools() -> Iterator[Case]:
    for n, sizes in (2, (6, 7)), (3, (4, 6, 5)):
        x = real(2, 3, *sizes)
        k, s, p = [3, 2, 2][:n], [2, 1, 2][:n], [1, 0, 1][:n]
        cube = [0] if n == 2 else []
        average = getattr(aten, f"avg_pool{n}d")
        out = average(t(x), k, s, p, False, False, 5)
        yield case(f"AvgPool{n}d", [x, k, s, p, False, False, 5, *cube, OUT], out)
        g = real(*out.shape)
        back = getattr(aten, f"avg_pool{n}d_backward")(t(g), t(x), k, s, p, False, False, 5)
        arguments = [g, x, k, s, p, False, False, 5, *cube, OUT]
        yield case(f"AvgPool{n}dBackward", arguments, back)
        target = [3, 2, 2][:n]
        out = getattr(functional, f"adaptive_avg_pool{n}d")(t(x), target)
        yield case(f"AdaptiveAvgPool{n}d", [x, target, OUT], out)
        g = real(*out.shape)
        back = getattr(aten, f"_adaptive_avg_pool{n}d_backward")(t(g), t(x))
        yield case(f"AdaptiveAvgPool{n}dBackward", [g, x, OUT], back)
        out, index = getattr(aten, f"adaptive_max_pool{n}d")(t(x), target)
        small = index.int() if n == 3 else index
        yield case(f"AdaptiveMaxPool{n}d", [x, target, OUT, OUT], out, small)
        back = getattr(aten, f"adaptive_max_pool{n}d_backward")(t(g), t(x), index)
        yield case(f"AdaptiveMaxPool{n}dBackward", [g, x, small.numpy(), OUT], back)
        out, index = getattr(aten, f"max_pool{n}d_with_indices")(t(x), k, s, p, 1, True)
        name = "MaxPool2dWithIndices" if n == 2 else "MaxPool3dWithArgmax"
        windows, small = [k, s, p, [1] * n, True], index.int()
        yield case(name, [x, *windows, OUT, OUT], out, small)
        g = real(*out.shape)
        back = getattr(aten, f"max_pool{n}d_with_indices_backward")(
            t(g), t(x), k, s, p, [1] * n, True, index
        )
        yield case(f"{name}Backward", [g, x, small.numpy(), *windows, OUT], back)
    x = real(2, 3, 6, 7)
    out = functional.max_pool2d(t(x), (3, 2), (2, 1), (1, 0))
    yield case("MaxPool", [x, [3, 2], [2, 1], 0, [1, 0], [1, 1], 0, OUT], out)


def _hidden(mask: Any, scores: torch.Tensor) -> torch.Tensor:
    return scores.masked_fill(t(mask), -float("inf"))


def _attention() -> Iterator[Case]:
    q, k, v, g = real(2, 4, 5, 8), real(2, 2, 6, 8), real(2, 2, 6, 8), real(2, 4, 5, 8)
    mask = booleans(2, 1, 5, 6)
    mask[..., 0] = False
    leaves = [t(x).requires_grad_() for x in (q, k, v)]
    wide = [leaves[0], *(x.repeat_interleave(2, 1) for x in leaves[1:])]
    scores = _hidden(mask, wide[0] @ wide[1].transpose(-1, -2) * 0.3)
    out = torch.softmax(scores, -1) @ wide[2]
    out.backward(t(g))
    top = scores.amax(-1, keepdim=True)
    total = (scores - top).exp().sum(-1, keepdim=True)
    stats = [x.detach().expand(2, 4, 5, 8).contiguous() for x in (top, total)]
    tail = [0.3, 1.0, 2**31 - 1, 2**31 - 1, 4]
    arguments = [q, k, v, None, None, None, mask, None, *tail, "BNSD", 0, 0, OUT, OUT, None, OUT]
    yield case("FlashAttentionScore", arguments, *stats, out)
    stored = [x.numpy() for x in stats]
    arguments = [q, k, v, g, None, None, None, mask, *stored, None, out.detach().numpy(), None]
    arguments += [*tail, "BNSD", 0, 0, OUT, OUT, OUT, None]
    yield case("FlashAttentionScoreGrad", arguments, *(x.grad for x in leaves), tolerance=1e-4)

    def swap_axes(x: Any) -> Any:
        return np.ascontiguousarray(np.swapaxes(x, 1, 2))

    arguments = [*map(swap_axes, (q, k, v)), None, None, None, mask, None, *tail, "BSND", 0, 0]
    yield case(
        "FlashAttentionScore", [*arguments, OUT, OUT, None, OUT], *stats, out.transpose(1, 2)
    )
    x, c, s = real(2, 3, 4, 8), real(2, 3, 1, 8), real(2, 3, 1, 8)
    half = torch.cat([-t(x)[..., 4:], t(x)[..., :4]], -1)
    yield case("RotaryPositionEmbedding", [x, c, s, 0, OUT], t(x) * t(c) + half * t(s))
    pairs = torch.stack([-t(x)[..., 1::2], t(x)[..., ::2]], -1).flatten(-2)
    yield case("RotaryPositionEmbedding", [x, c, s, 1, OUT], t(x) * t(c) + pairs * t(s))


def _attend(q: Any, k: Any, v: Any, mask: Any) -> tuple[torch.Tensor, ...]:
    """Return maximum, sum and output of [heads, tokens, width] with half as many key heads."""
    keys, values = (x.repeat_interleave(q.shape[0] // x.shape[0], 0) for x in (k, v))
    scores = (q @ keys.transpose(-1, -2) * 0.3).masked_fill(mask, -float("inf"))
    top = scores.amax(-1, keepdim=True)
    total = (scores - top).exp().sum(-1, keepdim=True)
    return top, total, torch.softmax(scores, -1) @ values


def _sequences() -> Iterator[Case]:
    """Sequences of 3 and 2 queries with 4 and 5 keys, one after the other."""
    q, k, v, g = real(5, 4, 8), real(9, 2, 8), real(9, 2, 8), real(5, 4, 8)
    mask = booleans(3, 5)
    mask[:, 0] = False
    leaves = [t(x).requires_grad_() for x in (q, k, v)]
    parts = []
    for q0, q1, k0, k1 in (0, 3, 0, 4), (3, 5, 4, 9):
        heads = [leaves[0][q0:q1], leaves[1][k0:k1], leaves[2][k0:k1]]
        hidden = t(mask)[: q1 - q0, : k1 - k0]
        results = _attend(*(x.transpose(0, 1) for x in heads), hidden)
        parts.append([x.transpose(0, 1) for x in results])
    top, total, out = (torch.cat(x) for x in zip(*parts, strict=True))
    out.backward(t(g))
    stats = [x.detach().expand(5, 4, 8).contiguous() for x in (top, total)]
    tail = [[3, 5], [4, 9], 0.3, 1.0, 2**31 - 1, 2**31 - 1, 4, "TND", 0, 0]
    arguments = [q, k, v, None, None, None, mask, None, *tail, OUT, OUT, None, OUT]
    yield case("FlashAttentionVarLenScore", arguments, *stats, out)
    stored = [x.numpy() for x in stats]
    arguments = [q, k, v, g, None, None, None, mask, *stored, None, out.detach().numpy(), None]
    arguments += [*tail, OUT, OUT, OUT, None]
    grads = [x.grad for x in leaves]
    yield case("FlashAttentionUnpaddingScoreGrad", arguments, *grads, tolerance=1e-4)


def _inference() -> Iterator[Case]:
    half = [x.astype("float16") for x in (real(2, 4, 3, 8), real(2, 2, 3, 8), real(2, 2, 3, 8))]
    q, k, v = (t(x).float() for x in half)
    out = torch.zeros(2, 4, 3, 8)
    free = torch.zeros(3, 3, dtype=torch.bool)
    for b, n in enumerate((2, 3)):
        out[b, :, :n] = _attend(q[b, :, :n], k[b, :, :n], v[b, :, :n], free[:n, :n])[2]
    tail = [4, 0.3, 2**31 - 1, 2**31 - 1, "BNSD", 2, OUT]
    arguments = [*half, None, None, [2, 3], *tail]
    yield case("PromptFlashAttention", arguments, out.half(), tolerance=5e-3)
    # A cache of three blocks of two tokens; the sequences use blocks 2, 0 and block 1.
    rows = [x.astype("float16") for x in (real(2, 1, 32), real(3, 2, 16), real(3, 2, 16))]
    table, lengths = np.array([[2, 0], [1, 1]], "int32"), [3, 2]
    out = torch.zeros(2, 1, 32)
    for b, length in enumerate(lengths):
        cache = [t(x).float()[table[b]].reshape(4, 2, 8)[:length] for x in rows[1:]]
        query = t(rows[0]).float()[b].reshape(1, 4, 8).transpose(0, 1)
        found = _attend(query, *(x.transpose(0, 1) for x in cache), free[:1, :length])[2]
        out[b] = found.transpose(0, 1).reshape(1, 32)
    arguments = [rows[0], [rows[1]], [rows[2]], None, None, lengths, *[None] * 7, table, None]
    arguments += [4, 0.3, "BSH", 2, 2, 0, OUT]
    yield case("IncreFlashAttentionV4", arguments, out.half(), tolerance=5e-3)


def _optimizers() -> Iterator[Case]:
    p, g, m, v, big = real(5), real(5), real(5), positive(5), positive(5) * 2
    step = np.array([3.0], "float32")
    state = [t(x) for x in (p, g, m, v, big)]
    torch._fused_adamw_(
        [state[0]], [state[1]], [state[2]], [state[3]], [state[4]], [t(step)],
        lr=0.1, beta1=0.8, beta2=0.95, weight_decay=0.05, eps=1e-3, amsgrad=True, maximize=True,
    )  # fmt: skip
    numbers = [0.1, 0.8, 0.95, 0.05, 1e-3, True, True]
    after = (state[0], state[2], state[3], state[4])
    lists = [[Ref(p)], [g], [Ref(m)], [Ref(v)], [Ref(big)], [step], None, None]
    yield case("FusedAdamw", [*lists, *numbers], *after)
    single = [Ref(p), Ref(m), Ref(v), Ref(big), g, step]
    yield case("ApplyAdamWV2", [*single, *numbers], *after)
    state = [t(x) for x in (p, g, m)]
    torch._fused_sgd_(
        [state[0]], [state[1]], [state[2]], weight_decay=0.05, momentum=0.9, lr=0.1,
        dampening=0.3, nesterov=False, maximize=True, is_first_step=False,
    )  # fmt: skip
    numbers = [0.05, 0.9, 0.1, 0.3, False, True, False]
    after = (state[0], t(g), state[2])
    yield case("FusedSgd", [[Ref(p)], [Ref(g)], [Ref(m)], None, *numbers], *after)
    x, y = real(3), real(4)
    pair = (t(x), t(y))
    yield case("ForeachAddScalarV2", [[x, y], 2.0, [OUT, OUT]], *(z + 2 for z in pair))
    yield case("ForeachMulScalarV2", [[x, y], 2.0, [OUT, OUT]], *(z * 2 for z in pair))
    two = np.array([2.0], "float32")
    yield case("ForeachMulScalar", [[x, y], two, [OUT, OUT]], *(z * 2 for z in pair))
    norms = [z.norm(2).reshape(1) for z in pair]
    yield case("ForeachNorm", [[x, y], 2.0, [OUT, OUT]], *norms)
    found, inverse = np.zeros(1, "float32"), np.array([0.25], "float32")
    infinite = x * np.array([1, np.inf, 1], "float32")
    results = (t(infinite) * 0.25, t(y) * 0.25, torch.ones(1))
    name = "ForeachNonFiniteCheckAndUnscale"
    yield case(name, [[Ref(infinite), Ref(y)], Ref(found), inverse], *results)
    scale, tracker = np.array([8.0], "float32"), np.array([3], "int32")
    for inf, wanted in (0.0, (16.0, 0)), (1.0, (4.0, 0)):
        outs = (np.array([wanted[0]], "float32"), np.array([wanted[1]], "int32"))
        values = [scale, tracker, np.array([inf], "float32"), 2.0, 0.5, 4, OUT, OUT]
        yield case("AmpUpdateScale", values, *outs)


def _images() -> Iterator[Case]:
    x, grid = real(2, 3, 5, 6), np.tanh(real(2, 4, 3, 2))
    for number, mode in enumerate(("bilinear", "nearest")):
        out = functional.grid_sample(t(x), t(grid), mode, "zeros", False)
        yield case("GridSampler2D", [x, grid, number, 0, False, OUT], out)
    size = [8, 9]
    yield case("UpsampleNearest2d", [x, size, OUT], functional.interpolate(t(x), size))
    g = real(2, 3, 8, 9)
    back = aten.upsample_nearest2d_backward(t(g), size, x.shape, None, None)
    yield case("UpsampleNearest2dBackward", [g, size, x.shape, 0.0, 0.0, OUT], back)
    for align in False, True:
        out = functional.interpolate(t(x), size, mode="bilinear", align_corners=align)
        yield case("UpsampleBilinear2d", [x, size, align, 0.0, 0.0, OUT], out)
        back = aten.upsample_bilinear2d_backward(t(g), size, x.shape, align, None, None)
        arguments = [g, size, x.shape, align, 0.0, 0.0, OUT]
        yield case("UpsampleBilinear2dBackward", arguments, back)
    # An offset of whole cells moves the window: with x offsets of 1, columns begin one further.
    image, weight, bias = real(1, 2, 6, 6), real(3, 2, 2, 2), real(3)
    offsets = np.zeros((1, 12, 5, 5), "float32")
    offsets[:, :4] = 1
    offsets[:, 8:] = 0.5
    moved = torch.zeros(1, 2, 6, 6)
    moved[..., :5] = t(image)[..., 1:]
    out = functional.conv2d(moved, t(weight)) * 0.5 + t(bias).reshape(1, 3, 1, 1)
    ones = [1, 1, 1, 1]
    arguments = [image, weight, offsets, bias, [2, 2], ones, [0, 0, 0, 0], ones, 1, 1, True]
    yield case("DeformableConv2d", [*arguments, OUT, None], out)
    index = whole(4, 2, 5, 3).astype("int32")
    weights, g = positive(2, 5, 3), real(2, 3, 5)
    back = torch.zeros(2, 3, 4)
    for b, n, i in np.ndindex(index.shape):
        back[b, :, index[b, n, i]] += t(g)[b, :, n] * float(weights[b, n, i])
    yield case("ThreeInterpolateBackward", [g, index, weights, 4, OUT], back)


def cases() -> Iterator[Case]:
    """Return the cases."""
    groups = (_products, _convolutions, _pools, _attention, _sequences, _inference, _optimizers)
    for group in (*groups, _images):
        yield from group()
