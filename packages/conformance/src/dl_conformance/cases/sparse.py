"""Products of sparse CSR matrices."""

from dl_conformance.vocabulary import T, calls, refused


def sparse(shape, indices="int64", **others):
    return T(shape, csr=indices, **others)


CASES = [
    calls(
        "SpMM",
        dict(input=sparse("5x7"), mat2="7x4"),
        dict(input=sparse("5x7", "int32"), mat2="7x4"),
        dict(input=sparse("5x7", density=0.0), mat2="7x4"),
        dict(input=sparse("5x7", density=1.0), mat2="7x4"),
        dict(input=sparse("1x1", density=1.0), mat2="1x1"),
        dict(input=sparse("0x7"), mat2="7x4"),
        dict(input=sparse("5x0"), mat2="0x4"),
        dict(input=sparse("5x7"), mat2="7x0"),
        dict(
            input=sparse("3x5", values=[[0, 0, 0, 0, 0], [1, 0, 0, 0, 2], [0, 0, 3, 0, 0]]),
            mat2="5x1",
        ),
        dict(input=sparse("67x129", "int32", density=0.1), mat2="129x33"),
        dict(input=sparse("2x9001", density=0.9), mat2="9001x3"),
        edges="special",
    ),
    refused(
        "SpMM",
        dict(input=T("5x7", csr="int64"), mat2="7x4"),
        dict(mat2="7x4x1"),
        dict(mat2="7x5"),
        dict(input=T("5x7", low=0, high=1, dtype="int64", csr="int64")),
    ),
]
