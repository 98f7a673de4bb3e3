"""Matrix products."""

from dl_conformance.vocabulary import T, calls, refused

PRODUCTS = [
    ("5x7", "7x3"),
    ("1x1", "1x1"),
    ("33x65", "65x17"),
    ("2x300", "300x3"),
    ("0x4", "4x3"),
    ("3x0", "0x2"),
]
FACTORS = [(1.0, 1.0), (0.5, 2.0), (0.0, 1.0)]

CASES = [
    calls("Mm", *(dict(input=a, mat2=b) for a, b in PRODUCTS)),
    calls("Bmm", *(dict(input=f"3x{a}", mat2=f"3x{b}") for a, b in PRODUCTS)),
    calls(
        "Matmul",
        *(dict(input=a, other=b) for a, b in PRODUCTS),
        dict(input="7", other="7"),
        dict(input="7", other="7x3"),
        dict(input="5x7", other="7"),
        dict(input="2x1x5x7", other="3x7x4"),
        dict(input="3x5x7", other="7x4"),
    ),
    calls(
        "MatmulBackward",
        *(
            dict(grad_out=g, input=a, other=b)
            for g, a, b in (
                ("5x3", "5x7", "7x3"),
                ("1x1", "1x1", "1x1"),
                ("33x17", "33x65", "65x17"),
                ("2x3x5x4", "2x3x5x7", "2x3x7x4"),
                ("2x3x5x4", "2x1x5x7", "3x7x4"),
                ("2x3x5x4", "1x3x5x7", "2x1x7x4"),
                ("3x5x4", "3x5x7", "7x4"),
                ("3x5x4", "5x7", "3x7x4"),
                ("6x5x4", "6x5x7", "1x7x4"),
                ("-", "7", "7"),
                ("5", "5x7", "7"),
                ("3", "7", "7x3"),
                ("2x5", "2x5x7", "7"),
                ("2x3", "7", "2x7x3"),
            )
        ),
        dict(grad_out="0x3", input="0x4", other="4x3"),
        dict(grad_out="3x2", input="3x0", other="0x2"),
        dict(grad_out="0x5x4", input="0x5x7", other="7x4"),
        dict(grad_out="2x5x4", input="2x5x7", other="7x4", grad_input=None),
        dict(grad_out="2x5x4", input="2x5x7", other="7x4", grad_other=None),
    ),
    calls(
        "Addmm",
        *(dict(input="5x3", mat1="5x7", mat2="7x3", beta=b, alpha=a) for b, a in FACTORS),
        dict(input="3", mat1="5x7", mat2="7x3", beta=1.0, alpha=1.0),
        dtypes="float16 bfloat16 float32 float64",
    ),
    calls(
        "Addmm",
        dict(input="5x3", mat1="5x7", mat2="7x3", beta=1, alpha=2),
        dict(input="3", mat1="5x7", mat2="7x3", beta=3, alpha=1),
    ),
    calls(
        "Baddbmm",
        *(dict(input="2x5x3", batch1="2x5x7", batch2="2x7x3", beta=b, alpha=a) for b, a in FACTORS),
        dict(input="3", batch1="2x5x7", batch2="2x7x3", beta=1.0, alpha=1.0),
    ),
    calls(
        "BaddbmmInp",
        *(dict(input="2x5x3", batch1="2x5x7", batch2="2x7x3", beta=b, alpha=a) for b, a in FACTORS),
    ),
    calls(
        "Linear",
        *(
            dict(input=x, weight=w, bias=b)
            for x, w, b in (
                ("5x7", "3x7", "3"),
                ("2x4x7", "3x7", None),
                ("7", "3x7", "3"),
                ("33x65", "17x65", "17"),
                ("0x7", "3x7", "3"),
                ("1x300", "1x300", None),
            )
        ),
    ),
    calls(
        "LinearBackward",
        dict(grad_output="5x3", input="5x7", weight="3x7"),
        dict(grad_output="2x4x3", input="2x4x7", weight="3x7"),
        dict(grad_output="33x17", input="33x65", weight="17x65"),
        dict(grad_output="5x3", input="5x7", weight="3x7", grad_bias=None),
        dict(grad_output="5x3", input="5x7", weight="3x7", grad_input=None),
        dict(grad_output="5x3", input="5x7", weight="3x7", grad_weight=None),
        dict(grad_output="5x3", input="5x7", weight="3x7", grad_weight=None, grad_bias=None),
        dict(grad_output="5x3", input="5x7", weight="3x7", grad_input=None, grad_bias=None),
        dict(grad_output="5x3", input="5x7", weight="3x7", grad_input=None, grad_weight=None),
        dict(grad_output="3", input="7", weight="3x7"),
        dict(grad_output="0x3", input="0x7", weight="3x7"),
    ),
    calls(
        "MatmulAllReduce",
        *(
            dict(x1=a, x2=b, bias=c, group="", reduce_op="sum", comm_turn=0, stream_mode=1)
            for a, b, c in (
                ("5x7", "7x3", "3"),
                ("33x65", "65x17", None),
                ("1x1", "1x1", "1"),
                ("7", "7x3", None),
                ("2x4x7", "7x3", "3"),
                ("0x7", "7x3", "3"),
            )
        ),
    ),
    refused(
        "Mm",
        dict(input="5x7", mat2="7x3"),
        dict(input="5x7x1"),
        dict(input="5x8"),
        dict(input=T("5x7", low=0, high=1, dtype="int64")),
    ),
    refused(
        "Bmm",
        dict(input="3x5x7", mat2="3x7x3"),
        dict(input="4x5x7"),
    ),
    refused(
        "Matmul",
        dict(input="5x7", other="7x3"),
        dict(input="5x7x1"),
        dict(input="-"),
        dict(out="5"),
    ),
    refused(
        "MatmulBackward",
        dict(grad_out="5x3", input="5x7", other="7x3"),
        dict(grad_out="5x3x1"),
        dict(grad_input="5x7x1"),
    ),
    refused(
        "Addmm",
        dict(input="5x3", mat1="5x7", mat2="7x3", beta=1.0, alpha=1.0),
        dict(input="5x3x1"),
        dict(input="5"),
    ),
    refused(
        "Baddbmm BaddbmmInp",
        dict(input="2x5x3", batch1="2x5x7", batch2="2x7x3", beta=1.0, alpha=1.0),
        dict(input="2x5x3x1"),
    ),
    refused(
        "Linear",
        dict(input="5x7", weight="3x7", bias="3"),
        dict(input="5x7x1"),
        dict(bias="4"),
    ),
    refused(
        "LinearBackward",
        dict(grad_output="5x3", input="5x7", weight="3x7"),
        dict(grad_input="5x7x1"),
    ),
    refused(
        "MatmulAllReduce",
        dict(x1="5x7", x2="7x3", bias="3", group="", reduce_op="sum", comm_turn=0, stream_mode=1),
        dict(x1="5x7x1"),
    ),
]
