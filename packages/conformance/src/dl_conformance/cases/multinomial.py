"""Positions drawn with the probabilities of weights."""

from dl_conformance.vocabulary import T, calls

FEW = T("2x4", values=[1, 0, 2, 5, 0, 0, 3, 0], plain=True)
# None is 0, so that all can be drawn.
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
]
