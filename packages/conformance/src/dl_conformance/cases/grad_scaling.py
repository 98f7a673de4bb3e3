"""Scaling of losses and gradients."""

from dl_conformance.vocabulary import T, calls, refused

FACTORS = dict(scale_growth_factor=2.0, scale_backoff_factor=0.5, growth_interval=4)
SCALE = T("1", low=2, high=9)


def tracker(value):
    return T("1", values=[value], dtype="int32")


CASES = [
    calls(
        "AmpForeachNonFiniteCheckAndUnscaleInp",
        dict(
            scaled_grads=["3x41", "5"],
            found_inf=T("1", values=[0.0]),
            inv_scale=T("1", values=[0.25]),
        ),
        dict(
            scaled_grads=[T("4", values=[1.0, float("inf"), 2.0, 3.0]), "5"],
            found_inf=T("1", values=[0.0]),
            inv_scale=T("1", values=[0.25]),
        ),
        dict(
            scaled_grads=[T("3x41", strides=(1, 3)), "5"],
            found_inf=T("1", values=[0.0]),
            inv_scale=T("1", values=[0.25]),
        ),
        layouts=(),
    ),
    calls(
        "AmpUpdateScaleInp",
        dict(
            current_scale=SCALE,
            growth_tracker=tracker(3),
            found_inf=T("1", values=[0.0]),
            **FACTORS,
        ),
        dict(
            current_scale=SCALE,
            growth_tracker=tracker(1),
            found_inf=T("1", values=[0.0]),
            **FACTORS,
        ),
        dict(
            current_scale=SCALE,
            growth_tracker=tracker(1),
            found_inf=T("1", values=[1.0]),
            **FACTORS,
        ),
        layouts=(),
    ),
    calls(
        "ClipGradNorm",
        *(
            dict(grads=["7x40", None, "300"], max_norm=m, norm_type=p, error_if_nonfinite=True)
            for m in (0.5, 1e6)
            for p in (1.0, 2.0, 3.5, float("inf"))
        ),
    ),
    refused(
        "AmpForeachNonFiniteCheckAndUnscaleInp",
        dict(
            scaled_grads=["3x41", "5"],
            found_inf=T("1", values=[0.0]),
            inv_scale=T("1", values=[0.25]),
        ),
        dict(found_inf=T("2", values=[0.0])),
        dict(scaled_grads=["3x41", T("5", dtype="int64")]),
    ),
    refused(
        "AmpUpdateScaleInp",
        dict(
            current_scale=T("1", low=2, high=9),
            growth_tracker=T("1", values=[3], dtype="int32"),
            found_inf=T("1", values=[0.0]),
            scale_growth_factor=2.0,
            scale_backoff_factor=0.5,
            growth_interval=4,
        ),
        dict(current_scale=T("2", low=2, high=9)),
    ),
    refused(
        "ClipGradNorm",
        dict(grads=["7x40", None, "300"], max_norm=0.5, norm_type=1.0, error_if_nonfinite=True),
        dict(norm_type=float("nan")),
    ),
]
