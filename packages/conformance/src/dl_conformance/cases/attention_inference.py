"""Attention while serving a language model."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")


def numbers(*values):
    return T((len(values),), values=list(values), plain=True)


# Sequences of three lengths, whose tokens lie in rows of a pool of 20 that none shares.
TABLE = T("3x6", values=[19, 0, 7, 3, 12, 5, 9, 9, 9, 9, 1, 14, 4, 6, 8, 10, 2, 16], plain=True)
POOL = dict(b_loc=TABLE, b_start_loc=numbers(0, 6, 8), b_seq_len=numbers(6, 2, 5), max_input_len=6)
ONE = dict(
    b_loc=T("1x1", values=[3], plain=True),
    b_start_loc=numbers(0),
    b_seq_len=numbers(1),
    max_input_len=1,
)

CASES = [
    calls(
        "DestIndexCopyKV",
        *(
            dict(out=o, k=k, dest_loc=d)
            for o, k, d in (
                ("9x2x5", "4x2x5", numbers(7, 0, 3, 8)),
                ("3x1x4", "1x1x4", numbers(2)),
                ("3x2x4", "0x2x4", T("0", dtype="int64")),
            )
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "TokenAttentionInference",
        dict(q="3x2x8", k="20x2x8", **POOL),
        dict(q="1x1x65", k="4x1x65", **ONE),
        layouts=LAYOUTS,
    ),
    calls(
        "TokenSoftmaxReduceVInference",
        dict(logics="2x13", v="20x2x8", other_kv_index=0, **POOL),
        dict(logics="1x1", v="4x1x5", other_kv_index=0, **ONE),
        layouts=LAYOUTS,
    ),
    calls(
        "ContextAttentionInference",
        dict(
            q="13x2x8",
            k="13x2x8",
            v="13x2x8",
            b_start_loc=numbers(0, 6, 8),
            b_seq_len=numbers(6, 2, 5),
            max_input_len=6,
        ),
        dict(
            q="40x1x16",
            k="40x1x16",
            v="40x1x16",
            b_start_loc=numbers(0),
            b_seq_len=numbers(40),
            max_input_len=40,
        ),
        layouts=LAYOUTS,
    ),
]
