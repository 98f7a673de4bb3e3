"""Attention and its gradients."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def mask(shape, kind):
    """Return a mask of some keys for all queries, and of all keys for the first query."""
    if kind == "bool":
        return T(shape, values=[1, 1, 0, 1, 1, 1, 0], dtype="bool", plain=True)
    return T(shape, low=-2, high=2)


# Hides whole blocks of 128 keys, and parts of blocks.
HIDDEN_KEYS = [0] * 9 + [1] * 50 + [0] * 210 + [1] * 11
INFINITE = [0.5 if visible else float("-inf") for visible in HIDDEN_KEYS]


def lse(shape):
    n, s, h, _ = shape.split("x")
    return f"{n}x{h}x{s}"


PLAIN = dict(mask=None, scale=0.3, is_causal=False)
EACH = [
    (dict(q="2x3x17x16", k="2x3x25x16", v="2x3x25x16", **PLAIN), "2x3x17x16"),
    (dict(q="1x1x1x1", k="1x1x1x1", v="1x1x1x1", **PLAIN), "1x1x1x1"),
    (dict(q="1x2x5x3", k="1x2x7x3", v="1x2x7x5", **PLAIN), "1x2x5x5"),
    (dict(q="2x2x33x8", k="2x2x33x8", v="2x2x33x8", **{**PLAIN, "is_causal": True}), "2x2x33x8"),
    (dict(q="1x2x9x8", k="1x2x40x8", v="1x2x40x6", **{**PLAIN, "is_causal": True}), "1x2x9x6"),
    (dict(q="2x6x7x16", k="2x2x9x16", v="2x2x9x16", **PLAIN), "2x6x7x16"),
    (
        dict(q="2x3x6x8", k="2x3x7x8", v="2x3x7x8", **{**PLAIN, "mask": mask("2x3x6x7", "float")}),
        "2x3x6x8",
    ),
    (
        dict(q="2x2x6x8", k="2x1x7x8", v="2x1x7x8", **{**PLAIN, "mask": mask("2x1x1x7", "bool")}),
        "2x2x6x8",
    ),
    *(
        (
            dict(q="1x2x70x8", k="1x1x280x8", v="1x1x280x8", **{**PLAIN, "mask": hidden}),
            "1x2x70x8",
        )
        for hidden in (
            T("280", values=HIDDEN_KEYS, dtype="bool", plain=True),
            T("1x1x70x280", values=HIDDEN_KEYS, dtype="bool", plain=True),
            T("70x280", values=INFINITE),
            T("70x1", values=[0] * 66 + [1] * 4, dtype="bool", plain=True),
        )
    ),
]
FLASH = dict(
    gen=None,
    alibi_slopes=None,
    p_dropout=0.0,
    softmax_scale=0.3,
    is_causal=False,
    window_size_left=-1,
    window_size_right=-1,
)
SHAPES = [("2x17x3x16", "2x25x3x16"), ("1x9x6x8", "1x9x2x8"), ("2x33x2x8", "2x33x2x8")]
DROPOUT = dict(gen=(11, 3), p_dropout=0.25)
SMALL = dict(q="2x5x4x8", k="2x7x2x8", v="2x7x2x8", **FLASH)
TALL = dict(q="1x9x2x8", k="1x4x2x8", v="1x4x2x8", **FLASH)
WINDOW = dict(window_size_left=5, window_size_right=2)
SLOPES = T("3", low=0.125, high=1)
FLASHES = [
    *(dict(q=q, k=k, v=k, **FLASH) for q, k in SHAPES),
    *(dict(q=q, k=k, v=k, **{**FLASH, "is_causal": True}) for q, k in SHAPES),
    dict(q="2x17x3x16", k="2x25x3x16", v="2x25x3x16", **{**FLASH, **WINDOW}),
    dict(q="2x17x3x16", k="2x25x3x16", v="2x25x3x16", **{**FLASH, "alibi_slopes": SLOPES}),
    {**SMALL, "alibi_slopes": T("2x4", low=0.125, high=1), "is_causal": True},
    {**TALL, "is_causal": True},
    {**TALL, **WINDOW, "window_size_left": 0, "alibi_slopes": T("2", low=0.125, high=1)},
    {**SMALL, **DROPOUT},
    {**SMALL, **DROPOUT, "is_causal": True, "p_dropout": 0.5},
    {**SMALL, **DROPOUT, "p_dropout": 1.0},
    dict(q="0x5x2x8", k="0x7x2x8", v="0x7x2x8", **FLASH),
    dict(q="1x0x2x8", k="1x7x2x8", v="1x7x2x8", **FLASH),
    dict(q="1x5x2x8", k="1x0x2x8", v="1x0x2x8", **FLASH),
]

# Calls of the operators that diopiFlashAttention supersedes.
HEADS = dict(gen=None, dropout_p=0.0, scale=0.3, is_causal=False)
OF_HEADS = dict(q="2x5x4x8", k="2x7x2x8", v="2x7x2x8", **HEADS)
KEEPING = dict(gen=(11, 3), dropout_p=0.25)
MULTI_HEADS = [
    dict(q="2x17x3x16", k="2x25x3x16", v="2x25x3x16", **HEADS),
    dict(q="1x1x1x1", k="1x1x1x1", v="1x1x1x1", **HEADS),
    dict(q="1x33x2x8", k="1x40x2x8", v="1x40x2x8", **{**HEADS, "is_causal": True}),
    dict(q="1x9x2x8", k="1x4x2x8", v="1x4x2x8", **{**HEADS, "is_causal": True}),
    {**OF_HEADS, **KEEPING},
    {**OF_HEADS, **KEEPING, "is_causal": True, "scale": 0.7},
    dict(q="0x5x2x8", k="0x7x2x8", v="0x7x2x8", **HEADS),
]
DEBUG = [
    dict(x, return_debug_mask=True, **more)
    for x in (MULTI_HEADS[1], MULTI_HEADS[4])
    for more in ({}, dict(debug_attn_mask=T("2x4x5x7", dtype="bool")))
]

# Calls with an explicit mask, and with layouts.
HIDES = [1, 0, 0, 1, 0, 0, 0, 1, 0]
BOOL, BYTE = (T("5x7", values=HIDES, dtype=dtype, plain=True) for dtype in ("bool", "uint8"))
CUSTOM = dict(FLASH, attention_mask=None)
ROWS = dict(q="2x5x4x8", k="2x7x2x8", v="2x7x2x8", head_num=4, **CUSTOM)
CUSTOMIZED = [
    dict(ROWS, input_layout="BSND"),
    dict(ROWS, q="2x4x5x8", k="2x2x7x8", v="2x2x7x8", input_layout="BNSD"),
    dict(ROWS, q="2x5x32", k="2x7x16", v="2x7x16", input_layout="BSH"),
    dict(ROWS, q="5x2x32", k="7x2x16", v="7x2x16", input_layout="SBH"),
    dict(ROWS, attention_mask=BOOL, is_causal=True),
    dict(ROWS, attention_mask=BYTE, q="5x2x32", k="7x2x16", v="7x2x16", input_layout="SBH"),
    dict(ROWS, attention_mask=T("2x1x5x7", values=[*HIDES, 1, 1], dtype="bool", plain=True)),
    dict(ROWS, **WINDOW, alibi_slopes=T("4", low=0.125, high=1), softmax_scale=0.7),
    {**ROWS, **DROPOUT},
    {
        **ROWS,
        **DROPOUT,
        "attention_mask": BOOL,
        "q": "2x5x32",
        "k": "2x7x16",
        "v": "2x7x16",
        "input_layout": "BSH",
    },
    dict(ROWS, q="0x5x4x8", k="0x7x2x8", v="0x7x2x8"),
]


def saved_outputs(call, name, operator):
    """Return a tensor that the vendor's own forward pass saves; without a generator, no dropout."""
    if name == "dropout_mask" and call["gen"] is None:
        return None
    return T("0", saved_by=f"diopi{operator}.{name}", given=dict(gen=call["gen"]))


def customized_gradient(call, operator):
    """Return the gradient of a call, from tensors that the vendor's own forward pass saves."""
    names = ("dropout_mask", "softmax_max", "softmax_sum", "softmax_out")
    found = {name: saved_outputs(call, name, operator) for name in names}
    out = T(call["q"], result_of=f"diopi{operator}.attention_out", given=dict(gen=call["gen"]))
    return dict(call, grad_output=call["q"], attention_out=out, **found)


CASES = [
    calls("dlopAttention", *(x for x, _ in EACH), dict(EACH[0][0], lse=None), layouts=LAYOUTS),
    calls(
        "dlopAttentionBackward",
        *(
            dict(
                x,
                grad_out=o,
                out=T(o, result_of="dlopAttention.out"),
                lse=T(o.rpartition("x")[0], result_of="dlopAttention.lse"),
            )
            for x, o in EACH
        ),
        layouts=LAYOUTS,
    ),
    calls("FlashAttention", *FLASHES, layouts=LAYOUTS),
    calls(
        "FlashAttentionBackward",
        *(
            dict(
                x,
                grad_output=x["q"],
                attention_out=T(x["q"], result_of="diopiFlashAttention.attention_out"),
                softmax_lse=T(lse(x["q"]), result_of="diopiFlashAttention.softmax_lse"),
            )
            for x in FLASHES
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "MultiHeadAttention",
        *(dict(x, debug_attn_mask=None) for x in MULTI_HEADS),
        dict(MULTI_HEADS[4], softmax_lse=T("2x4x5", dtype="float32"), debug_attn_mask=None),
        *DEBUG,
        layouts=LAYOUTS,
    ),
    calls(
        "MultiHeadAttentionBackward",
        *(
            dict(
                x,
                grad_out=x["q"],
                out=T(x["q"], result_of="diopiMultiHeadAttention.out"),
                softmax_lse=T(lse(x["q"]), result_of="diopiMultiHeadAttention.softmax_lse"),
            )
            for x in MULTI_HEADS
        ),
        layouts=LAYOUTS,
    ),
    calls("CustomizedFlashAttention", *CUSTOMIZED, layouts=LAYOUTS),
    calls(
        "CustomizedFlashAttentionBackward",
        *(customized_gradient(x, "CustomizedFlashAttention") for x in CUSTOMIZED),
        layouts=LAYOUTS,
    ),
    refused(
        "dlopAttention",
        dict(q="2x3x17x16", k="2x3x25x16", v="2x3x25x16", mask=None, scale=0.3, is_causal=False),
        dict(lse="2x3x17x1"),
        dict(q="2x3x17x16x1"),
        dict(q="2x3x17x17"),
        dict(q="2x4x17x16"),
        dict(q="2x3x18x16"),
        dict(k="2x3x25x16x1"),
        dict(v="2x3x25x16x1"),
        dict(mask="3"),
        dict(lse=T("2x3x17", dtype="int64")),
    ),
    refused(
        "dlopAttentionBackward",
        dict(
            q="2x3x17x16",
            k="2x3x25x16",
            v="2x3x25x16",
            mask=None,
            scale=0.3,
            is_causal=False,
            grad_out="2x3x17x16",
            out=T("2x3x17x16", result_of="dlopAttention.out"),
            lse=T("2x3x17", result_of="dlopAttention.lse"),
        ),
        dict(grad_q="2x3x17x16x1"),
        dict(grad_k="2x3x25x16x1"),
        dict(grad_v="2x3x25x16x1"),
        dict(grad_out="2x3x17x16x1"),
    ),
    refused(
        "FlashAttention",
        dict(
            q="2x17x3x16",
            k="2x25x3x16",
            v="2x25x3x16",
            gen=None,
            alibi_slopes=None,
            p_dropout=0.0,
            softmax_scale=0.3,
            is_causal=False,
            window_size_left=-1,
            window_size_right=-1,
        ),
        dict(alibi_slopes="1"),
        dict(p_dropout=-1.0),
    ),
    refused(
        "FlashAttentionBackward",
        dict(
            q="2x17x3x16",
            k="2x25x3x16",
            v="2x25x3x16",
            gen=None,
            alibi_slopes=None,
            p_dropout=0.0,
            softmax_scale=0.3,
            is_causal=False,
            window_size_left=-1,
            window_size_right=-1,
            grad_output="2x17x3x16",
            attention_out=T("2x17x3x16", result_of="diopiFlashAttention.attention_out"),
            softmax_lse=T("2x3x17", result_of="diopiFlashAttention.softmax_lse"),
        ),
        dict(grad_q="2x17x3x16x1"),
    ),
    refused(
        "MultiHeadAttention",
        dict(
            q="2x17x3x16",
            k="2x25x3x16",
            v="2x25x3x16",
            gen=None,
            dropout_p=0.0,
            scale=0.3,
            is_causal=False,
            debug_attn_mask=None,
        ),
        dict(return_debug_mask=True),
    ),
    refused(
        "MultiHeadAttentionBackward",
        dict(
            q="2x17x3x16",
            k="2x25x3x16",
            v="2x25x3x16",
            gen=None,
            dropout_p=0.0,
            scale=0.3,
            is_causal=False,
            grad_out="2x17x3x16",
            out=T("2x17x3x16", result_of="diopiMultiHeadAttention.out"),
            softmax_lse=T("2x3x17", result_of="diopiMultiHeadAttention.softmax_lse"),
        ),
        dict(grad_out="2x17x3x16x1"),
    ),
    refused(
        "CustomizedFlashAttention",
        dict(
            q="2x5x4x8",
            k="2x7x2x8",
            v="2x7x2x8",
            head_num=4,
            gen=None,
            alibi_slopes=None,
            p_dropout=0.0,
            softmax_scale=0.3,
            is_causal=False,
            window_size_left=-1,
            window_size_right=-1,
            attention_mask=None,
            input_layout="BSND",
        ),
        dict(attention_out="2x5x4x8x1"),
    ),
]
