"""Cases of functions that select, place, move and count elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn import functional

from .case import OUT, Case, Ref, booleans, case, real, t, whole

aten = torch.ops.aten


def _indexing() -> Iterator[Case]:
    table, rows = real(6, 3), whole(6, 2, 4)
    yield case("Embedding", [table, rows, OUT], functional.embedding(t(rows), t(table)))
    g = real(2, 4, 3)
    for padding, scale in (2, False), (-1, True):
        back = aten.embedding_dense_backward(t(g), t(rows), 6, padding, scale)
        yield case("EmbeddingDenseBackward", [g, rows, 6, padding, scale, OUT], back)
    renormed = torch.embedding_renorm_(t(table), t(np.array([0, 4])), 0.5, 2.0)
    yield case(
        "EmbeddingRenorm", [Ref(table), np.array([0, 4]), 0.5, 2.0], renormed, tolerance=1e-4
    )
    x, src = real(3, 5), real(2, 5)
    index = np.stack([np.random.default_rng(i).permutation(3)[:2] for i in range(5)], 1)
    yield case("Gather", [x, 0, index, OUT], t(x).gather(0, t(index)))
    yield case("IndexSelect", [x, 1, np.array([3, 0, 3]), OUT], t(x)[:, [3, 0, 3]])
    same = np.full_like(src, 1.5)
    for number, reduce in (0, None), (1, "sum"), (2, "prod"):
        for name, source in ("", src), ("Value", same):
            if reduce is None:
                out = t(x).scatter(0, t(index), t(source))
            else:
                out = t(x).scatter_reduce(0, t(index), t(source), reduce)
            value = 1.5 if name else src
            yield case(f"Scatter{name}", [x, 0, index, value, number, OUT], out)
            yield case(f"InplaceScatter{name}", [Ref(x), 0, index, value, number], out)
    yield case("ScatterAdd", [x, 0, index, src, OUT], t(x).scatter_add(0, t(index), t(src)))
    places, source = np.array([2, 0, 2]), real(3, 3)
    added = t(x).index_add(1, t(places), t(source), alpha=2)
    yield case("IndexAdd", [x, 1, places, source, 2.0, OUT], added)
    filled = t(x).index_fill(1, t(places), 4.0)
    yield case("IndexFill", [x, 1, places, 4.0, OUT], filled)
    yield case("InplaceIndexFill", [Ref(x), 1, places, 4.0], filled)
    places = np.array([4, 1, 0])
    copied = t(x).index_copy(1, t(places), t(source))
    yield case("InplaceIndexCopy", [Ref(x), 1, places, source], copied)
    x = real(3, 4, 5)
    i, j = np.array([0, 2]), np.array([[1], [3]])
    yield case("Index", [x, [i, j], OUT], t(x)[t(i), t(j)])
    nothing = np.zeros(0, "float32")
    yield case("Index", [x, [nothing, i], OUT], t(x)[:, t(i)])
    for add in False, True:
        value = real(2, 2, 5)
        put = t(x).index_put((t(i), t(j)), t(value), accumulate=add)
        yield case("IndexPutImpl", [Ref(x), [i, j], value, add, False], put)
    mask, source = booleans(3, 4, 5), real(60)
    scattered = t(x).masked_scatter(t(mask), t(source))
    yield case("InplaceMaskedScatter", [Ref(x), mask, source], scattered)
    hot = functional.one_hot(t(np.array([0, 2, 1])), 4) * 4 + 1
    on, off = np.array([5]), np.array([1])
    yield case("OneHot", [np.array([0, 2, 1]), 4, on, off, -1, OUT], hot)
    yield case("OneHot", [np.array([0, 2, 1]), 4, on, off, 0, OUT], hot.T)


def _shapes() -> Iterator[Case]:
    x, y = real(2, 3), real(2, 3)
    yield case("Cat", [[x, y], 1, OUT], torch.cat([t(x), t(y)], 1))
    yield case("Stack", [[x, y], 1, OUT], torch.stack([t(x), t(y)], 1))
    yield case("SplitWithSize", [x, [1, 2], 1, [OUT, OUT]], *t(x).split([1, 2], 1))
    yield case("Expand", [x, [4, 2, 3], OUT], t(x).expand(4, 2, 3))
    yield case("Repeat", [x, [2, 1, 3], OUT], t(x).repeat(2, 1, 3))
    yield case("Permute", [x, [1, 0], OUT], t(x).permute(1, 0))
    yield case("Flip", [x, [1], OUT], t(x).flip(1))
    yield case("Roll", [x, [1], [1], OUT], t(x).roll(1, 1))
    wide = real(3, 7)
    yield case("Slice", [wide, 1, 1, 6, 2, OUT], t(wide)[:, 1:6:2])
    yield case(
        "ConstantPadNd", [x, [1, 2, 0, 3], 7.0, OUT], functional.pad(t(x), (1, 2, 0, 3), value=7)
    )
    square = real(4, 5)
    yield case("Tril", [square, 1, OUT], t(square).tril(1))
    yield case("Triu", [square, 1, OUT], t(square).triu(1))
    yield case("InplaceTriu", [Ref(square), 1], t(square).triu(1))
    g = real(3, 3, 3)
    back = aten.unfold_backward(t(g), [3, 7], 1, 3, 2)
    yield case("UnfoldGrad", [g, [3, 7], 1, 3, 2, OUT], back)
    image = real(2, 3, 6, 7)
    columns = functional.unfold(t(image), (2, 3), (1, 2), (1, 0), (2, 1))
    yield case("Im2col", [image, [2, 3], [1, 2], [1, 0], [2, 1], OUT], columns)
    folded = functional.fold(columns, (6, 7), (2, 3), (1, 2), (1, 0), (2, 1))
    arguments = [columns.numpy(), [6, 7], [2, 3], [1, 2], [1, 0], [2, 1], OUT]
    yield case("Im2colBackward", arguments, folded)
    yield case("Arange", [1.0, 8.0, 2.0, OUT], torch.arange(1.0, 8.0, 2.0))
    yield case("Linspace", [1.0, 8.0, 5, OUT], torch.linspace(1.0, 8.0, 5))


def cases() -> Iterator[Case]:
    """Return the cases."""
    for group in _indexing, _shapes:
        yield from group()
