"""Attention and its gradients."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")


def mask(shape, kind):
    """With keys that nobody sees, but for the first query, which sees none."""
    if kind == "bool":
        return T(shape, values=[1, 1, 0, 1, 1, 1, 0], dtype="bool", plain=True)
    return T(shape, low=-2, high=2)


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
FLASHES = [
    *(dict(q=q, k=k, v=k, **FLASH) for q, k in SHAPES),
    *(dict(q=q, k=k, v=k, **{**FLASH, "is_causal": True}) for q, k in SHAPES),
    dict(
        q="2x17x3x16",
        k="2x25x3x16",
        v="2x25x3x16",
        **{**FLASH, "window_size_left": 5, "window_size_right": 2},
    ),
    dict(
        q="2x17x3x16",
        k="2x25x3x16",
        v="2x25x3x16",
        **{**FLASH, "alibi_slopes": T("3", low=0.125, high=1)},
    ),
]

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
]
