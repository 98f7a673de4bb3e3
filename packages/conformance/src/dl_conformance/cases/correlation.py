"""Correlation of two feature maps."""

from dl_conformance.vocabulary import T, calls, refused

SIZES = dict(
    kH=2,
    kW=1,
    patchH=3,
    patchW=1,
    padH=1,
    padW=0,
    dilationH=2,
    dilationW=1,
    dilation_patchH=2,
    dilation_patchW=1,
    dH=2,
    dW=1,
)
PLAIN = dict.fromkeys(SIZES, 1) | dict(padH=0, padW=0)
LAYOUTS = ("transposed", "strided", "offset", "channels-last")
MAPS = "2x3x5x4"

CASES = [
    calls(
        "CorrelationMmcv",
        *(dict(input1=MAPS, input2=MAPS, **x) for x in (SIZES, PLAIN)),
        layouts=LAYOUTS,
    ),
    calls(
        "CorrelationBackwardMmcv",
        *(
            dict(
                grad_input1=MAPS,
                grad_input2=MAPS,
                grad_output=g,
                input1=MAPS,
                input2=MAPS,
                **x,
            )
            for x, g in ((SIZES, "2x3x1x3x4"), (PLAIN, "2x1x1x5x4"))
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "CorrelationMmcv",
        dict(
            input1="2x3x5x4",
            input2="2x3x5x4",
            kH=2,
            kW=1,
            patchH=3,
            patchW=1,
            padH=1,
            padW=0,
            dilationH=2,
            dilationW=1,
            dilation_patchH=2,
            dilation_patchW=1,
            dH=2,
            dW=1,
        ),
        dict(input1="2x3x5x4x1"),
        dict(input1="2x3x5x5"),
        dict(kH=-1),
        dict(kH=3),
        dict(kW=-1),
        dict(patchH=-1),
        dict(patchW=-1),
        dict(padH=-1),
        dict(dilationH=-1),
        dict(dilationW=-1),
        dict(dilation_patchH=-1),
        dict(dilation_patchW=-1),
        dict(dH=-1),
        dict(dW=-1),
        dict(input1=T("2x3x5x4", low=0, high=1, dtype="int64")),
    ),
    refused(
        "CorrelationBackwardMmcv",
        dict(
            grad_input1="2x3x5x4",
            grad_input2="2x3x5x4",
            grad_output="2x3x1x3x4",
            input1="2x3x5x4",
            input2="2x3x5x4",
            kH=2,
            kW=1,
            patchH=3,
            patchW=1,
            padH=1,
            padW=0,
            dilationH=2,
            dilationW=1,
            dilation_patchH=2,
            dilation_patchW=1,
            dH=2,
            dW=1,
        ),
        dict(grad_input1="2x3x5x4x1"),
    ),
]
