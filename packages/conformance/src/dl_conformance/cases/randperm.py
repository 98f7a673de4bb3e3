"""Random permutations."""

from dl_conformance.vocabulary import calls, refused

CASES = [
    calls(
        "Randperm",
        *(dict(n=n, generator=g) for n in (101, 1, 0, 2) for g in ((5, 0), ((3 << 32) + 1, 5))),
    ),
    calls("Randperm", dict(n=3000, generator=(77, 1)), dtypes="int64 float32"),
    refused(
        "Randperm",
        dict(n=101, generator=(5, 0)),
        dict(n=-1),
        dict(n=0),
    ),
]
