"""Standard deviations."""

from dl_conformance.vocabulary import calls

CASES = [
    calls(
        "Std",
        dict(input="5x7x3", dim=[1], correction=1),
        dict(input="5x7x3", dim=[0, 2], correction=0),
        dict(input="5x7", dim=None, correction=1),
        dict(input="3x41", dim=[1], correction=None),
    ),
]
