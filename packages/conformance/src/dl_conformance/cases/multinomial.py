"""Multinomial sampling."""

from dl_conformance.vocabulary import T, calls, refused

FEW = T("2x4", values=[1, 0, 2, 5, 0, 0, 3, 0], plain=True)
# No weight is 0, so that every index can be drawn.
MANY = T("3x41", low=0.5, high=4)

CASES = [
    calls(
        "Multinomial",
        *(
            dict(input=w, num_samples=n, replacement=r, generator=g)
            for g in ((71, 2), ((3 << 32) + 1, 0))
            for w, n, r in (
                (MANY, 9, True),
                (MANY, 20, False),
                (MANY, 1, False),
                (FEW, 9, True),
                (T("41", low=0.5, high=4), 41, False),
            )
        ),
        layouts=("transposed", "strided", "offset"),
    ),
    refused(
        "Multinomial",
        dict(input=T("3x41", low=0.5, high=4), num_samples=9, replacement=True, generator=(71, 2)),
        dict(input=T("3x41x1", low=0.5, high=4)),
        dict(input=T("3", low=0.5, high=4)),
        dict(num_samples=-1),
        dict(input=T("3x41", low=0, high=1, dtype="int64")),
        data=[dict(input=T("3x41", values=[-2.0]))],
    ),
    refused(
        "Multinomial",
        dict(
            input=T("3x41", low=0.5, high=4), num_samples=20, replacement=False, generator=(71, 2)
        ),
        dict(num_samples=42),
    ),
]
