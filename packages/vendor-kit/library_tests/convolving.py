"""Convolutions as code to run on a vendor."""

from __future__ import annotations

PRELUDE = """
    rng = np.random.default_rng(0)
    def numbers(*shape, layout="dense"):
        # Small integers: sums do not depend on the order of the terms.
        x = rng.integers(-3, 4, shape).astype("float32")
        if layout == "channels last":
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
        return x.repeat(2, -1)[..., ::2] if layout == "apart" else x
    def there(x, dtype="float32"):
        return vendor.tensor(x, dtype)
    def like(x, dtype="float32"):
        # A value that no operator writes.
        return vendor.tensor(np.full_like(x, 99), dtype)
    def convolve(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1, **passed):
        axes = x.ndim - 2
        lists = [[n] * axes if isinstance(n, int) else n for n in (stride, padding, dilation)]
        sizes = [
            (size + 2 * lists[1][i] - lists[2][i] * (w.shape[i + 2] - 1) - 1) // lists[0][i] + 1
            for i, size in enumerate(x.shape[2:])
        ]
        out = vendor.empty((x.shape[0], w.shape[0], *sizes), x.dtype)
        vendor.op[f"diopiConvolution{axes}d"](out, x, w, bias, *lists, groups, **passed)
        return out
"""

# Sizes of the input and the weight, then the window parameters.
SHAPES = [
    ((2, 3, 6, 7), (4, 3, 3, 3), {"stride": 1, "padding": 1}),
    ((2, 3, 1, 11), (4, 3, 1, 3), {"stride": [1, 2], "padding": [0, 1]}),
    ((1, 4, 9, 8), (6, 2, 3, 2), {"stride": [2, 1], "dilation": 2, "groups": 2}),
    ((1, 4, 5, 5), (4, 1, 3, 3), {"padding": 1, "groups": 4}),
    ((3, 5, 4, 4), (2, 5, 1, 1), {}),
    ((2, 1, 5, 5), (3, 1, 2, 2), {"stride": 2}),
    ((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"stride": 2, "padding": 1}),
    ((1, 2, 5, 5, 5), (2, 1, 2, 2, 2), {"dilation": 2, "groups": 2}),
]
KINDS = [
    ("float32", "dense"),
    ("float32", "channels last"),
    ("float32", "apart"),
    ("float64", "dense"),
    ("float16", "channels last"),
    ("bfloat16", "dense"),
]
RUNS = 3 * len(KINDS) + (len(SHAPES) - 3) * 2

EACH_WAY = """
    def each_way(name, x_shape, w_shape, windows, dtype, layout):
        axes = len(x_shape) - 2
        lists = []
        for key, missing in ("stride", 1), ("padding", 0), ("dilation", 1):
            given = windows.get(key, missing)
            lists.append([given] * axes if isinstance(given, int) else given)
        groups = windows.get("groups", 1)
        sizes = [
            (size + 2 * p - d * (k - 1) - 1) // s + 1
            for size, k, s, p, d in zip(x_shape[2:], w_shape[2:], *lists)
        ]
        x, w = numbers(*x_shape, layout=layout), numbers(*w_shape, layout=layout)
        y = numbers(x_shape[0], w_shape[0], *sizes, layout=layout)
        found = {"out": like(y, dtype), "with bias": like(y, dtype), "grad x": like(x, dtype),
                 "grad w": like(w, dtype), "turned": like(x, dtype)}
        shift = numbers(w_shape[0])
        found["grad bias"] = like(shift, dtype)
        x, w, y, bias = (there(a, dtype) for a in (x, w, y, shift))
        op = vendor.op
        forward = f"diopiConvolution{axes}d"
        op[forward](found["out"], x, w, None, *lists, groups)
        op[forward](found["with bias"], x, w, bias, *lists, groups)
        grads = [found[key] for key in ("grad x", "grad w", "grad bias")]
        op[forward + "Backward"](*grads, y, x, w, [w_shape[0]], *lists, groups)
        # Rows of the result that no window reaches are its output padding.
        more = [
            size - ((o - 1) * s - 2 * p + d * (k - 1) + 1)
            for size, o, k, s, p, d in zip(x_shape[2:], sizes, w_shape[2:], *lists)
        ]
        op[f"diopiConvTranspose{axes}d"](
            found["turned"], y, w, None, lists[0], lists[1], more, groups, lists[2]
        )
        return {f"{name} {key}": value.numpy() for key, value in found.items()}
    results = {}
    for i, shape in enumerate(SHAPES):
        for dtype, layout in KINDS if i in (0, 2, 6) else KINDS[:2]:
            results |= each_way(f"{i} {dtype} {layout}", *shape, dtype, layout)
    np.savez(PATH, **results)
"""
