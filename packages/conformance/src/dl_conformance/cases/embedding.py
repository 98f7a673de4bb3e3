"""Embedding lookup and its gradient."""

from dl_conformance.vocabulary import T, calls, refused

PLAIN = dict(scale_grad_byfreq=False, sparse=False)


def index(shape, dtype="int64"):
    return T(shape, low=0, high=8, dtype=dtype)


CASES = [
    calls(
        "Embedding",
        dict(weight="9x5", indices=index("4x3"), padding_idx=-1, **PLAIN),
        dict(weight="9x5", indices=index("7", "int32"), padding_idx=2, **PLAIN),
        dict(weight="9x5", indices=index("-"), padding_idx=-1, **PLAIN),
        edges="extreme",
    ),
    calls(
        "EmbeddingBackward",
        dict(grad="4x3x5", indices=index("4x3"), num_weights=9, padding_idx=-1, **PLAIN),
        dict(grad="40x5", indices=index("40", "int32"), num_weights=9, padding_idx=2, **PLAIN),
        dict(
            grad="40x5",
            indices=index("40"),
            num_weights=9,
            padding_idx=2,
            scale_grad_byfreq=True,
            sparse=False,
        ),
        layouts=("transposed", "strided", "offset"),
    ),
    calls(
        "EmbeddingRenorm_",
        dict(inout="9x5", indices=index("4x3"), max_norm=2.0, norm_type=2.0),
        dict(inout="9x5", indices=index("7", "int32"), max_norm=1.0, norm_type=1.0),
        dict(inout="9x5", indices=index("3"), max_norm=1.5, norm_type=3.0),
        dict(inout="9x300", indices=index("3"), max_norm=5.0, norm_type=2.0),
        *(
            dict(inout=T("9x5", low=0.5, high=4), indices=index("3"), max_norm=0.9, norm_type=p)
            for p in (float("inf"), -float("inf"), 0.0, -1.5)
        ),
        layouts=("transposed", "strided", "offset"),
    ),
    refused(
        "Embedding",
        dict(
            weight="9x5",
            indices=T("4x3", low=0, high=8, dtype="int64"),
            padding_idx=-1,
            scale_grad_byfreq=False,
            sparse=False,
        ),
        dict(weight="9x5x1"),
        dict(weight="9x6"),
        dict(weight=T("9x5", low=0, high=1, dtype="int64")),
        data=[dict(indices=T("4x3", values=[-9], dtype="int64"))],
    ),
    refused(
        "EmbeddingBackward",
        dict(
            grad="4x3x5",
            indices=T("4x3", low=0, high=8, dtype="int64"),
            num_weights=9,
            padding_idx=-1,
            scale_grad_byfreq=False,
            sparse=False,
        ),
        dict(grad="4x3"),
        dict(num_weights=-1),
        data=[dict(indices=T("4x3", values=[-9], dtype="int64"))],
    ),
    refused(
        "EmbeddingRenorm_",
        dict(
            inout="9x5", indices=T("4x3", low=0, high=8, dtype="int64"), max_norm=2.0, norm_type=2.0
        ),
        dict(inout="9x5x1"),
        data=[dict(indices=T("4x3", values=[-9], dtype="int64"))],
    ),
]
