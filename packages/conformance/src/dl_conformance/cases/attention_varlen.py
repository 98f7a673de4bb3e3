"""Attention of packed sequences and its gradients."""

from dl_conformance.cases.attention import DROPOUT, FLASH, HEADS, KEEPING, customized_gradient
from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def ends(*values, dtype="int32"):
    return T((len(values),), values=list(values), dtype=dtype, plain=True)


# Three sequences: the second one has no queries, the last one no keys.
ENDS = dict(cum_seq_q=(0, 5, 5, 9), cum_seq_k=(0, 4, 7, 7))
ALIKE = dict(cum_seq_q=(0, 3, 9), cum_seq_k=(0, 7, 9))
LONG = dict(cum_seq_q=(0, 70, 75), cum_seq_k=(0, 3, 145))
SHAPES = dict(q="9x4x8", k="7x2x8", v="7x2x8")
EQUAL = dict(q="9x2x8", k="9x2x8", v="9x2x8")
WIDE = dict(q="75x2x16", k="145x1x16", v="145x1x16")


def packed(call, lengths, longest, names, dtype="int32"):
    """Return a call with cumulative and maximum sequence lengths.

    :param names: parameters of the cumulative lengths.
    """
    both = (ends(*x, dtype=dtype) for x in lengths.values())
    return {**call, **dict(zip(names, (*both, *longest), strict=True))}


def hosted(call, lengths, longest):
    """Return the call with cumulative lengths as host lists, without the leading 0."""
    both = (x[1:] for x in lengths.values())
    return {**call, **dict(zip(OF_FLASH, (*both, *longest), strict=True))}


OF_HEADS = ("cum_seq_q", "cum_seq_k", "max_q", "max_k")
OF_FLASH = ("cum_seq_q", "cum_seq_kv", "max_seqlen_q", "max_seqlen_kv")
MULTI_HEADS = [
    packed({**SHAPES, **HEADS}, ENDS, (5, 4), OF_HEADS),
    packed({**SHAPES, **HEADS}, ENDS, (8, 6), OF_HEADS, "int64"),
    packed({**WIDE, **HEADS, "is_causal": True}, LONG, (70, 142), OF_HEADS),
    packed({**EQUAL, **HEADS, "is_causal": True, "scale": 0.7}, ALIKE, (6, 7), OF_HEADS, "int64"),
    packed({**SHAPES, **HEADS, **KEEPING}, ENDS, (5, 4), OF_HEADS),
    packed({**SHAPES, **HEADS, **KEEPING}, ENDS, (6, 5), OF_HEADS),
    packed(dict(q="0x2x8", k="0x2x8", v="0x2x8", **HEADS), dict(a=(0,), b=(0,)), (0, 0), OF_HEADS),
]
DEBUG = [
    dict(MULTI_HEADS[5], return_debug_mask=True),
    dict(MULTI_HEADS[4], return_debug_mask=True, debug_attn_mask=T("3x4x5x4", dtype="bool")),
    dict(MULTI_HEADS[0], return_debug_mask=True, debug_attn_mask=T("3x4x5x4", dtype="uint8")),
]

SLOPES = T("2", low=0.125, high=1)
OPTIONS = [
    (SHAPES, ENDS, (5, 4), {}),
    (SHAPES, ENDS, (8, 6), dict(is_causal=True)),
    (WIDE, LONG, (70, 142), dict(is_causal=True, alibi_slopes=SLOPES)),
    (EQUAL, ALIKE, (6, 7), dict(window_size_left=2, window_size_right=1, softmax_scale=0.7)),
    (EQUAL, ALIKE, (6, 7), dict(alibi_slopes=T("2x2", low=0.125, high=1))),
    (SHAPES, ENDS, (5, 4), DROPOUT),
    (SHAPES, ENDS, (6, 5), dict(DROPOUT, is_causal=True)),
    (dict(q="3x1x5", k="3x1x5", v="3x1x5"), dict(a=(0, 3), b=(0, 3)), (3, 3), {}),
]
FLASHES = [packed({**x, **FLASH, **more}, e, n, OF_FLASH) for x, e, n, more in OPTIONS]
# Softmax statistics with shape [N, H, longest] instead of [H, total].
PADDED = [
    dict(FLASHES[0], softmax_lse=T("3x4x5", dtype="float32")),
    dict(FLASHES[1], softmax_lse=T("3x4x8", dtype="float32")),
    dict(FLASHES[3], softmax_lse=T("2x2x6", dtype="float32")),
]
HIDES = [1, 0, 0, 1, 0, 0, 0]
MASKS = [
    (SHAPES, ENDS, (5, 4), dict(attention_mask=T("5x4", values=HIDES, dtype="bool", plain=True))),
    (EQUAL, ALIKE, (6, 7), dict(attention_mask=T("2x1x6x7", values=[*HIDES, 1, 1, 0], dtype="uint8",
                                                 plain=True), is_causal=True)),
]  # fmt: skip
CUSTOMIZED = [
    hosted({**x, **FLASH, "attention_mask": None, **more}, e, n)
    for x, e, n, more in [*OPTIONS, *MASKS]
]

CASES = [
    calls(
        "MultiHeadAttentionVarLen",
        *(dict(x, debug_attn_mask=None) for x in MULTI_HEADS),
        dict(MULTI_HEADS[4], softmax_lse=T("3x4x5", dtype="float32"), debug_attn_mask=None),
        *DEBUG,
        layouts=LAYOUTS,
    ),
    calls(
        "MultiHeadAttentionVarLenBackward",
        *(
            dict(
                x,
                grad_out=x["q"],
                out=T(x["q"], result_of="diopiMultiHeadAttentionVarLen.out"),
                softmax_lse=T("0", result_of="diopiMultiHeadAttentionVarLen.softmax_lse"),
            )
            for x in MULTI_HEADS
        ),
        layouts=LAYOUTS,
    ),
    calls("FlashAttentionVarLen", *FLASHES, *PADDED, layouts=LAYOUTS),
    calls(
        "FlashAttentionVarLenBackward",
        *(
            dict(
                x,
                grad_output=x["q"],
                attention_out=T(x["q"], result_of="diopiFlashAttentionVarLen.attention_out"),
                softmax_lse=T(
                    x["softmax_lse"].sizes if "softmax_lse" in x else "0",
                    result_of="diopiFlashAttentionVarLen.softmax_lse",
                ),
            )
            for x in (*FLASHES, *PADDED)
        ),
        layouts=LAYOUTS,
    ),
    calls("CustomizedFlashAttentionVarLen", *CUSTOMIZED, layouts=LAYOUTS),
    calls(
        "CustomizedFlashAttentionVarLenBackward",
        *(customized_gradient(x, "CustomizedFlashAttentionVarLen") for x in CUSTOMIZED),
        layouts=LAYOUTS,
    ),
    refused(
        "MultiHeadAttentionVarLen",
        dict(
            q="9x4x8",
            k="7x2x8",
            v="7x2x8",
            gen=None,
            dropout_p=0.0,
            scale=0.3,
            is_causal=False,
            cum_seq_q=T("4", values=[0, 5, 5, 9], dtype="int32", plain=True),
            cum_seq_k=T("4", values=[0, 4, 7, 7], dtype="int32", plain=True),
            max_q=5,
            max_k=4,
            debug_attn_mask=None,
        ),
        dict(q="9x4x8x1"),
        dict(q="9x4x9"),
        dict(q="10x4x8"),
        dict(q="9x5x8"),
        dict(k="7x2x8x1"),
        dict(v="7x2x8x1"),
        dict(v="7x2x9"),
        dict(max_q=-1),
        dict(max_q=99),
        dict(dropout_p=-1.0),
        dict(return_debug_mask=True),
        dict(q=T("9x4x8", low=0, high=1, dtype="int64")),
        dict(cum_seq_q=T("4x1", values=[0, 5, 5, 9], dtype="int32", plain=True)),
        dict(cum_seq_q=T("5", values=[0, 5, 5, 9], dtype="int32", plain=True)),
        data=[
            dict(cum_seq_q=T("4", values=[-9], dtype="int32", plain=True)),
            dict(cum_seq_k=T("4", values=[-9], dtype="int32", plain=True)),
        ],
    ),
    refused(
        "FlashAttentionVarLen",
        dict(
            q="9x4x8",
            k="7x2x8",
            v="7x2x8",
            gen=None,
            alibi_slopes=None,
            p_dropout=0.0,
            softmax_scale=0.3,
            is_causal=False,
            window_size_left=-1,
            window_size_right=-1,
            cum_seq_q=T("4", values=[0, 5, 5, 9], dtype="int32", plain=True),
            cum_seq_kv=T("4", values=[0, 4, 7, 7], dtype="int32", plain=True),
            max_seqlen_q=5,
            max_seqlen_kv=4,
        ),
        dict(alibi_slopes="1"),
        data=[
            dict(cum_seq_q=T("4", values=[-9], dtype="int32", plain=True)),
            dict(cum_seq_kv=T("4", values=[-9], dtype="int32", plain=True)),
        ],
    ),
    refused(
        "CustomizedFlashAttentionVarLen",
        dict(
            q="9x4x8",
            k="7x2x8",
            v="7x2x8",
            gen=None,
            alibi_slopes=None,
            p_dropout=0.0,
            softmax_scale=0.3,
            is_causal=False,
            window_size_left=-1,
            window_size_right=-1,
            attention_mask=None,
            cum_seq_q=[5, 5, 9],
            cum_seq_kv=[4, 7, 7],
            max_seqlen_q=5,
            max_seqlen_kv=4,
        ),
        dict(cum_seq_q=[5, 5]),
        dict(attention_mask="3"),
    ),
]
