"""Max and average pooling in one operator, and their gradients."""

from dl_conformance.vocabulary import T, calls, refused
from dl_conformance.windows import output_size as windows
from dl_conformance.windows import some_positions

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
LINES = LAYOUTS[:3]
PLAIN = dict(ceil_mode=False, exclusive=True, adaptive=False, output_size=None)
BESIDE = dict(ceil_mode=False, exclusive=True, adaptive=True)


def sliding(shape, ksize, stride, padding, dilation, **others):
    """Return the arguments of a pooling call; ``grad_output`` has the shape of its output."""
    dims, sizes = len(ksize), tuple(map(int, shape.split("x")))
    given = {**PLAIN, **others}
    steps = [max(step, 1) for step in dilation]
    each = zip(sizes[-dims:], ksize, stride, padding, steps, strict=True)
    out = tuple(windows(*x, given["ceil_mode"]) for x in each)
    lists = dict(ksize=ksize, stride=stride, padding=padding, dilation=dilation)
    return dict(input=shape, grad_output=T((*sizes[:-dims], *out)), **lists, **given)


def cut(shape, output_size, **others):
    """Return the arguments of adaptive pooling, which ignores its required window arguments."""
    dims, sizes = len(output_size), tuple(map(int, shape.split("x")))
    lists = {x: [2] * dims for x in ("ksize", "stride", "dilation")}
    return dict(
        input=shape,
        grad_output=T((*sizes[:-dims], *output_size)),
        **lists,
        padding=[1] * dims,
        **{**BESIDE, "output_size": output_size, **others},
    )


def forward(each, mode):
    return [{**{k: v for k, v in x.items() if k != "grad_output"}, "mode": mode} for x in each]


def backward(each, mode):
    """Return the gradient calls; the inputs of max pooling have distinct elements."""
    named = [{k: v for k, v in x.items() if k != "output_size"} for x in each]
    return [
        {**x, "mode": mode, "indices": None, "input": T(x["input"], apart=mode == "max")}
        for x in named
    ]


LINE = [
    sliding("2x3x9", [2], [2], [0], [1]),
    sliding("2x3x9", [3], [2], [1], [1], exclusive=False),
    sliding("2x3x8", [3], [3], [1], [1], ceil_mode=True, exclusive=False),
    sliding("2x3x8", [3], [1], [1], [2]),
    sliding("3x9", [9], [1], [0], [1]),
    sliding("2x3x9", [3], [2], [1], [0]),
    sliding("0x3x9", [2], [2], [0], [1]),
    sliding("1x2x301", [5], [3], [2], [1]),
    *(cut("2x3x9", [x]) for x in (4, 1, 9)),
]
PLANE = [
    sliding("2x3x7x6", [2, 2], [2, 2], [0, 0], [1, 1]),
    sliding("1x2x7x6", [3, 2], [1, 2], [1, 1], [1, 1]),
    sliding("1x2x7x6", [3, 2], [1, 2], [1, 1], [1, 1], exclusive=False),
    sliding("1x2x7x6", [3, 3], [2, 2], [1, 1], [1, 1], ceil_mode=True),
    sliding("1x2x7x6", [3, 3], [2, 2], [1, 1], [1, 1], ceil_mode=True, exclusive=False),
    sliding("1x2x9x8", [2, 3], [1, 2], [1, 1], [2, 1], exclusive=False),
    sliding("1x2x9x8", [3, 2], [2, 1], [1, 1], [2, 3]),
    sliding("2x5x5", [2, 2], [2, 2], [0, 0], [1, 1]),
    sliding("1x2x7x6", [3, 2], [2, 1], [1, 1], [0, 0]),
    sliding("1x2x7x6", [3, 2], [2, 1], [1, 1], [0, 2]),
    sliding("0x2x5x5", [2, 2], [2, 2], [0, 0], [1, 1]),
    sliding("1x1x1x1", [1, 1], [1, 1], [0, 0], [1, 1]),
    sliding("1x3x41x37", [3, 3], [2, 2], [1, 1], [1, 1]),
    *(cut("2x3x7x6", x) for x in ([3, 2], [1, 1], [7, 6])),
]
VOLUME = [
    sliding("2x2x5x4x6", [2, 2, 3], [2, 1, 2], [0, 1, 1], [1, 1, 1]),
    sliding("1x2x5x5x5", [2, 2, 2], [2, 2, 2], [0, 0, 0], [1, 1, 1], ceil_mode=True),
    sliding("1x2x5x5x6", [2, 2, 2], [1, 2, 1], [1, 1, 1], [2, 1, 3], exclusive=False),
    sliding("2x5x4x6", [2, 2, 3], [2, 1, 2], [0, 1, 1], [1, 1, 1]),
    sliding("2x5x4x6", [2, 2, 3], [2, 1, 2], [0, 1, 1], [0, 0, 0]),
    cut("1x2x5x4x6", [2, 3, 4]),
]
ONE_FOR_ALL = dict(ksize=[3], stride=[2], padding=[1], dilation=[1], **PLAIN)


def with_indices(each):
    """Return a gradient call with indices, as a separate max-pooling operator would save them."""
    sizes, dims = each["input"].sizes, len(each["ksize"])
    lists = (each[x] for x in ("ksize", "stride", "padding"))
    values = some_positions("pooling", sizes[:-dims], sizes[-dims:], *lists)
    return {**each, "indices": T(values.shape, values=values, dtype="int64")}


CASES = [
    *(calls("Pool1d", *forward(LINE, x), layouts=LINES) for x in ("max", "avg")),
    *(calls("Pool1dBackward", *backward(LINE, x), layouts=LINES) for x in ("max", "avg")),
    *(calls("Pool2d", *forward(PLANE, x), layouts=LAYOUTS) for x in ("max", "avg")),
    *(calls("Pool2dBackward", *backward(PLANE, x), layouts=LAYOUTS) for x in ("max", "avg")),
    *(calls("Pool3d", *forward(VOLUME, x), layouts=LAYOUTS) for x in ("max", "avg")),
    *(calls("Pool3dBackward", *backward(VOLUME, x), layouts=LAYOUTS) for x in ("max", "avg")),
    # Lists with one entry for all dimensions.
    *(calls("Pool2d", dict(input="1x2x7x6", mode=x, **ONE_FOR_ALL)) for x in ("max", "avg")),
    calls("Pool1d", dict(forward(LINE, "max")[0]), edges="extreme"),
    calls("Pool2d", dict(forward(PLANE, "max")[0]), edges="extreme"),
    calls("Pool3d", dict(forward(VOLUME, "max")[0]), edges="extreme"),
    calls("Pool1dBackward", with_indices(backward(LINE, "max")[0]), layouts=LINES),
    calls("Pool2dBackward", with_indices(backward(PLANE, "max")[0]), layouts=LAYOUTS),
    calls("Pool3dBackward", with_indices(backward(VOLUME, "max")[0]), layouts=LAYOUTS),
    refused(
        "Pool1d",
        dict(
            input="2x3x9",
            ksize=[2],
            stride=[2],
            padding=[0],
            dilation=[1],
            ceil_mode=False,
            exclusive=True,
            adaptive=False,
            output_size=None,
            mode="max",
        ),
        dict(input="2x3x9x1"),
        dict(input="3x3x9"),
        dict(ksize=[2, 1]),
        dict(ksize=[-1]),
        dict(dilation=[-1]),
        dict(ksize=[1 << 31]),
        dict(padding=[2]),
        dict(stride=[3]),
        dict(input=T("2x3x9", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Pool1dBackward",
        dict(
            input=T("2x3x9", apart=True),
            grad_output="2x3x4",
            ksize=[2],
            stride=[2],
            padding=[0],
            dilation=[1],
            ceil_mode=False,
            exclusive=True,
            adaptive=False,
            mode="max",
            indices=None,
        ),
        dict(padding=[99]),
        dict(grad_input="2x3x9x1"),
        dict(indices="1"),
    ),
    refused(
        "Pool2d",
        dict(
            input="2x3x7x6",
            ksize=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            dilation=[1, 1],
            ceil_mode=False,
            exclusive=True,
            adaptive=False,
            output_size=None,
            mode="max",
        ),
        dict(input="2x3x7x6x1"),
    ),
    refused(
        "Pool2dBackward",
        dict(
            input=T("2x3x7x6", apart=True),
            grad_output="2x3x3x3",
            ksize=[2, 2],
            stride=[2, 2],
            padding=[0, 0],
            dilation=[1, 1],
            ceil_mode=False,
            exclusive=True,
            adaptive=False,
            mode="max",
            indices=None,
        ),
        dict(grad_input="2x3x7x6x1"),
    ),
    refused(
        "Pool3d",
        dict(
            input="2x2x5x4x6",
            ksize=[2, 2, 3],
            stride=[2, 1, 2],
            padding=[0, 1, 1],
            dilation=[1, 1, 1],
            ceil_mode=False,
            exclusive=True,
            adaptive=False,
            output_size=None,
            mode="max",
        ),
        dict(input="2x2x5x4x6x1"),
    ),
    refused(
        "Pool3dBackward",
        dict(
            input=T("2x2x5x4x6", apart=True),
            grad_output="2x2x2x5x3",
            ksize=[2, 2, 3],
            stride=[2, 1, 2],
            padding=[0, 1, 1],
            dilation=[1, 1, 1],
            ceil_mode=False,
            exclusive=True,
            adaptive=False,
            mode="max",
            indices=None,
        ),
        dict(grad_input="2x2x5x4x6x1"),
    ),
]
