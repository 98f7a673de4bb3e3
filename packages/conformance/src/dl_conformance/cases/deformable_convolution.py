"""Convolutions at learned positions, with and without masks, and their gradients."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset", "channels-last")
AXES = ("kernel", "stride", "pad", "dilation")


def shape_of(*sizes):
    return "x".join(map(str, sizes))


def call(n, channels, plane, filters, windows, groups=1, deformable=1, moves=None):
    """Return a call; ``windows`` is kernel, stride, padding and dilation along y and along x."""
    each = zip(plane, windows, strict=True)
    outputs = [(m + 2 * p - d * (k - 1) - 1) // s + 1 for m, (k, s, p, d) in each]
    taps = windows[0][0] * windows[1][0]
    moves = dict(low=-1.5, high=1.5) if moves is None else dict(values=moves)
    return dict(
        input=shape_of(n, channels, *plane),
        weight=shape_of(filters, channels // groups, windows[0][0], windows[1][0]),
        offset=T(shape_of(n, deformable * taps * 2, *outputs), **moves),
        mask=T(shape_of(n, deformable * taps, *outputs), low=0, high=1),
        output=shape_of(n, filters, *outputs),
        bias=str(filters),
        windows=windows,
        groups=groups,
        deformable=deformable,
    )


SAME, PLAIN = (3, 1, 1, 1), (1, 1, 0, 1)
GEOMETRIES = [
    call(2, 3, (5, 4), 2, (SAME, (2, 2, 0, 1))),
    # Samples far from all cells, on cells, between cells, and on the border.
    call(1, 2, (3, 4), 2, (SAME, SAME), moves=[0, 9, -9, 1, -1, 0.5, -0.25, 2, -2, 0, 0.75]),
    call(1, 2, (4, 3), 3, (SAME, SAME), moves=[0]),
    call(2, 4, (7, 6), 6, ((3, 2, 1, 2), (1, 1, 2, 1)), groups=2, deformable=2),
    call(1, 2, (6, 8), 3, ((2, 1, 1, 1), (3, 2, 1, 3))),
    call(1, 6, (4, 4), 6, ((2, 1, 0, 1), (2, 1, 1, 1)), groups=6, deformable=3),
    call(1, 4, (3, 3), 2, (SAME, PLAIN), groups=2),
    call(1, 4, (3, 3), 2, (PLAIN, SAME), deformable=4),
    call(1, 1, (1, 1), 1, (PLAIN, PLAIN)),
    call(1, 2, (17, 16), 2, (SAME, SAME)),  # more positions than a vendor processes at once
    call(1, 67, (2, 3), 3, (SAME, PLAIN)),  # and more channels
    call(0, 2, (3, 3), 2, (SAME, SAME)),
    call(1, 0, (3, 3), 2, (SAME, SAME)),
    call(1, 2, (0, 3), 2, ((1, 1, 1, 1), SAME)),
    call(1, 2, (3, 3), 0, (SAME, SAME)),
]


def plain(x, step=1, **more):
    numbers = {
        f"{name}{d}": x["windows"][axis][at]
        for axis, d in enumerate("HW")
        for at, name in enumerate(("k", "d", "pad", "dilation"))
    }
    names = dict(groups=x["groups"], deform_groups=x["deformable"], im2col_step=step)
    return dict(input=x["input"], offset=x["offset"], **numbers, **names, **more)


def modulated(x, with_bias, **more):
    numbers = {
        f"{name}_{d}": x["windows"][axis][at]
        for axis, d in enumerate("hw")
        for at, name in enumerate(AXES)
    }
    names = dict(group=x["groups"], deformable_group=x["deformable"], with_bias=with_bias)
    tensors = {name: x[name] for name in ("input", "weight", "offset", "mask")}
    return dict(**tensors, **numbers, **names, **more)


def added(x):
    return dict(
        grad_input=x["input"],
        grad_weight=x["weight"],
        grad_offset=T(x["offset"].shape),
        grad_mask=T(x["mask"].shape),
        grad_output=x["output"],
    )


FIRST = GEOMETRIES[0]
SCRATCH = dict(columns="0", ones="2x3")

CASES = [
    calls(
        "DeformConvMmcv",
        *(plain(x, weight=x["weight"]) for x in GEOMETRIES),
        plain(FIRST, 2, weight=FIRST["weight"], **SCRATCH),
        plain(FIRST, 64, weight=FIRST["weight"], columns="27x30", ones=None),
        layouts=LAYOUTS,
    ),
    calls(
        "DeformConvBackwardInputMmcv",
        *(plain(x, weight=x["weight"], gradOutput=x["output"]) for x in GEOMETRIES),
        plain(FIRST, 2, weight=FIRST["weight"], gradOutput=FIRST["output"], columns="0"),
        layouts=LAYOUTS,
    ),
    calls(
        "DeformConvBackwardParametersMmcv",
        plain(FIRST, gradWeight=FIRST["weight"], gradOutput=FIRST["output"], scale=0.7),
        *(
            plain(x, gradWeight=x["weight"], gradOutput=x["output"], scale=1)
            for x in GEOMETRIES[1:]
        ),
        plain(
            FIRST, 2, gradWeight=FIRST["weight"], gradOutput=FIRST["output"], scale=-2, **SCRATCH
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "ModulatedDeformConvMmcv",
        *(modulated(x, True, bias=x["bias"]) for x in GEOMETRIES),
        modulated(FIRST, False, bias=None),
        modulated(FIRST, False, bias="0", **SCRATCH),
        modulated(FIRST, False, bias=FIRST["bias"]),
        layouts=LAYOUTS,
    ),
    calls(
        "ModulatedDeformConvBackwardMmcv",
        *(modulated(x, True, grad_bias=x["bias"], bias=x["bias"], **added(x)) for x in GEOMETRIES),
        modulated(FIRST, True, grad_bias=FIRST["bias"], bias=None, **added(FIRST), **SCRATCH),
        modulated(FIRST, False, grad_bias=None, bias=None, **added(FIRST)),
        modulated(FIRST, False, grad_bias=FIRST["bias"], bias="0", **added(FIRST)),
        layouts=LAYOUTS,
    ),
    refused(
        "DeformConvMmcv",
        dict(
            input="2x3x5x4",
            offset=T("2x12x5x2", low=-1.5, high=1.5),
            kH=3,
            dH=1,
            padH=1,
            dilationH=1,
            kW=2,
            dW=2,
            padW=0,
            dilationW=1,
            groups=1,
            deform_groups=1,
            im2col_step=1,
            weight="2x3x3x2",
        ),
        dict(input="2x3x5x4x1"),
        dict(input="3x3x5x4"),
        dict(input="2x4x5x4"),
        dict(weight="3x3x3x2"),
        dict(kW=-1),
        dict(kW=99),
        dict(kH=-1),
        dict(kH=99),
        dict(groups=-1),
        dict(groups=99),
        dict(deform_groups=-1),
        dict(im2col_step=-1),
        dict(input=T("2x3x5x4", low=0, high=1, dtype="int64")),
    ),
    refused(
        "DeformConvBackwardInputMmcv",
        dict(
            input="2x3x5x4",
            offset=T("2x12x5x2", low=-1.5, high=1.5),
            kH=3,
            dH=1,
            padH=1,
            dilationH=1,
            kW=2,
            dW=2,
            padW=0,
            dilationW=1,
            groups=1,
            deform_groups=1,
            im2col_step=1,
            weight="2x3x3x2",
            gradOutput="2x2x5x2",
        ),
        dict(gradInput="2x3x5x4x1"),
        dict(gradOffset="2x12x5x2x1"),
    ),
    refused(
        "DeformConvBackwardParametersMmcv",
        dict(
            input="2x3x5x4",
            offset=T("2x12x5x2", low=-1.5, high=1.5),
            kH=3,
            dH=1,
            padH=1,
            dilationH=1,
            kW=2,
            dW=2,
            padW=0,
            dilationW=1,
            groups=1,
            deform_groups=1,
            im2col_step=1,
            gradWeight="2x3x3x2",
            gradOutput="2x2x5x2",
            scale=0.7,
        ),
        dict(gradOutput="2x2x5x2x1"),
    ),
    refused(
        "ModulatedDeformConvMmcv",
        dict(
            input="1x2x3x4",
            weight="2x2x3x3",
            offset="1x18x3x4",
            mask=T("1x9x3x4", low=0, high=1),
            kernel_h=3,
            stride_h=1,
            pad_h=1,
            dilation_h=1,
            kernel_w=3,
            stride_w=1,
            pad_w=1,
            dilation_w=1,
            group=1,
            deformable_group=1,
            with_bias=True,
            bias="2",
        ),
        dict(bias="2x1"),
        dict(bias=None),
        dict(mask=T("1x9x3x4x1", low=0, high=1)),
    ),
    refused(
        "ModulatedDeformConvBackwardMmcv",
        dict(
            input="2x3x5x4",
            weight="2x3x3x2",
            offset=T("2x12x5x2", low=-1.5, high=1.5),
            mask=T("2x6x5x2", low=0, high=1),
            kernel_h=3,
            stride_h=1,
            pad_h=1,
            dilation_h=1,
            kernel_w=2,
            stride_w=2,
            pad_w=0,
            dilation_w=1,
            group=1,
            deformable_group=1,
            with_bias=True,
            grad_bias="2",
            bias="2",
            grad_input="2x3x5x4",
            grad_weight="2x3x3x2",
            grad_offset="2x12x5x2",
            grad_mask="2x6x5x2",
            grad_output="2x2x5x2",
        ),
        dict(grad_mask="2x6x5x2x1"),
        dict(grad_weight="2x3x3x2x1"),
        dict(grad_bias="2x1"),
        dict(grad_bias=None),
    ),
]
