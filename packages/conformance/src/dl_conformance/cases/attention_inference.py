"""Attention while serving a language model."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")


def numbers(*values, dtype=None):
    return T((len(values),), values=list(values), dtype=dtype, plain=True)


def booleans(*values):
    return numbers(*values, dtype="bool")


def hides(shape, dtype="bool"):
    return T(shape, values=[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1], dtype=dtype, plain=True)


# Sequences of three lengths; their tokens are stored in disjoint rows of a pool of 20 rows.
TABLE = T("3x6", values=[19, 0, 7, 3, 12, 5, 9, 9, 9, 9, 1, 14, 4, 6, 8, 10, 2, 16], plain=True)
POOL = dict(b_loc=TABLE, b_start_loc=numbers(0, 6, 8), b_seq_len=numbers(6, 2, 5), max_input_len=6)
ONE = dict(
    b_loc=T("1x1", values=[3], plain=True),
    b_start_loc=numbers(0),
    b_seq_len=numbers(1),
    max_input_len=1,
)

# Entries of a table after the blocks of a sequence are arbitrary.
PAGES = T("3x4", values=[5, 0, -1, -1, 2, 4, 1, 99, 3, 5, 7, 7], dtype="int64", plain=True)
WIDE_PAGES = T(
    "3x5", values=[5, 0, 1, 9, 9, 2, 4, 1, 9, 9, 3, -1, 9, 9, 9], dtype="int32", plain=True
)
PAGED = (
    *("q", "k", "attenMask", "actual_seq_lengths", "num_heads", "num_kv_heads", "dim"),
    *("block_table", "block_size"),
)
PROMPT = (
    *("query", "key", "atten_mask", "actual_seq_lengths", "max_input_len", "num_heads"),
    *("num_kv_heads", "dim"),
)


def fused(batch, heads, key_heads, width, tokens, more):
    """Return a cache of two layers with capacity for 8 tokens."""
    hidden, columns = heads * width, (heads + 2 * key_heads) * width
    cache = f"2x{batch}x{key_heads}x8x{width}"
    return {
        "inoutput": T((tokens, hidden), low=-1, high=1),
        "qkv_weight": T((hidden, columns), low=-0.5, high=0.5),
        "qkv_bias": T((1, columns), low=-1, high=1),
        "workspace_size": 0,
        "fusion_level": 0,
        "key_cache": T(cache, low=-1, high=1),
        "value_cache": T(cache, low=-1, high=1),
        "layer_id": 0,
        "local_head_num": heads,
        "local_kv_head_num": key_heads,
        "size_per_head": width,
        "max_seq_len": 8,
        "rotary_embedding": width,
        "rope_theta": 10000.0,
        **more,
    }


CONTEXT = dict(pre_work_size=0, is_prepared=True, max_q_len=5, max_kv_len=8)
DECODER = dict(
    finished=booleans(0, 1, 0),
    total_padding_tokens=numbers(1, 0, 2),
    sequence_lengths=numbers(0, 3, 5),
    step=6,
)
NO_BIAS = dict(qkv_bias=None, rotary_embedding=0, fusion_level=1)
PARTLY = dict(rotary_embedding=4, rope_theta=100.0, qkv_bias=T("48", low=-1, high=1))

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
    calls(
        "PagedAttention",
        *(
            dict(zip(PAGED, x, strict=True), v=x[1])
            for x in (
                ("3x32", "24x16", None, (6, 9, 1), 4, 2, 8, PAGES, 4),
                ("3x32", "6x4x16", None, (0, 12, 5), 4, 2, 8, PAGES, 4),
                ("3x32", "6x4x16", hides("3x9"), (6, 9, 1), 4, 2, 8, PAGES, 4),
                ("3x16", "24x16", hides("1x11", "uint8"), (6, 9, 4), 2, 2, 8, WIDE_PAGES, 4),
                ("1x65", "7x65", None, (1,), 1, 1, 65, T("1x1", values=[6], plain=True), 1),
                ("0x16", "24x16", None, (), 2, 2, 8, T("0x3", dtype="int32"), 4),
            )
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "PromptFlashAttention",
        *(
            dict(zip(PROMPT, x, strict=True), value=x[1])
            for x in (
                ("13x32", "13x16", None, (6, 2, 5), 6, 4, 2, 8),
                ("18x32", "18x16", None, (6, 0, 5), 6, 4, 2, 8),
                ("13x16", "13x16", hides("6x6"), (6, 2, 5), 6, 2, 2, 8),
                ("12x16", "12x8", hides("2x1x6x6", "uint8"), (4, 6), 6, 2, 1, 8),
                ("12x16", "12x8", hides("2x6x6"), (4, 6), 6, 2, 1, 8),
                ("13x16", "13x16", hides("3x6x6"), (6, 2, 5), 6, 2, 2, 8),
                ("13x16", "13x16", hides("1x6x6"), (6, 2, 5), 6, 2, 2, 8),
                ("140x8", "140x8", None, (10, 130), 130, 1, 1, 8),
                ("1x5", "1x5", None, (1,), 1, 1, 1, 5),
                ("0x16", "0x16", None, (), 4, 2, 2, 8),
            )
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "FusedContextAttentionInp",
        fused(2, 2, 2, 8, tokens=10, more=CONTEXT),
        fused(2, 4, 2, 6, tokens=6, more=dict(CONTEXT, max_q_len=3, max_kv_len=7, layer_id=1)),
        fused(1, 2, 1, 8, tokens=7, more=dict(CONTEXT, max_q_len=7, max_kv_len=7, **NO_BIAS)),
        fused(2, 2, 2, 8, tokens=2, more=dict(CONTEXT, max_q_len=1, max_kv_len=8, **PARTLY)),
        fused(2, 2, 2, 8, tokens=0, more=dict(CONTEXT, max_q_len=0, max_kv_len=3)),
        layouts=LAYOUTS,
    ),
    calls(
        "FusedDecoderAttentionInp",
        fused(3, 2, 2, 8, tokens=3, more=DECODER),
        fused(3, 4, 2, 6, tokens=3, more=dict(DECODER, step=9, layer_id=1)),
        fused(3, 2, 1, 8, tokens=3, more=dict(DECODER, **NO_BIAS)),
        fused(3, 2, 2, 8, tokens=3, more=dict(DECODER, **PARTLY)),
        fused(3, 2, 2, 8, tokens=3, more=dict(DECODER, finished=booleans(1, 1, 1))),
        fused(
            3,
            2,
            2,
            8,
            tokens=3,
            more=dict(
                DECODER,
                total_padding_tokens=numbers(1, 0, 2, dtype="int64"),
                sequence_lengths=numbers(8, 19, 7, dtype="int64"),
            ),
        ),
        layouts=LAYOUTS,
    ),
]
