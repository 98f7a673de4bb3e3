"""Batch preparation in a language-model server: tokens, lengths, padding, embedded inputs."""

from dl_conformance.vocabulary import T, calls, refused

LAYOUTS = ("transposed", "strided", "offset")


def lengths(values):
    return T((len(values),), values=values, plain=True)


CASES = [
    calls(
        "GatherOutput",
        *(
            dict(
                ids=T(f"9x{len(each)}", low=0, high=99),
                context_length=lengths(each),
                max_context_len=5,
                max_gen_step=s,
                max_output_len=w,
                batch_size=len(each),
            )
            for each in ([5, 2, 0], [3])
            for s, w in ((9, 9), (7, 3), (4, 9))
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "PlusScalarInp",
        *(
            dict(inoutput=x, val=v, size=n)
            for x, v, n in (("3x5", 7, 15), ("9", -2, 4), ("9", 1, 0))
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "UpdatePaddingCount",
        dict(input_lengths=lengths([5, 2, 9]), max_input_length=9, batch_size=3),
        dict(input_lengths=lengths([1]), max_input_length=1, batch_size=1),
        layouts=LAYOUTS,
    ),
    calls(
        "TransposeAxis01",
        *(
            dict(input="x".join(map(str, s)), dim0=s[0], dim1=s[1], dim2=s[2])
            for s in ((3, 5, 7), (1, 4, 2), (0, 3, 2), (2, 1, 65))
        ),
        edges="extreme",
    ),
    calls(
        "EmbeddingLookupPosEncoding",
        *(
            dict(
                embedding_table="11x7",
                all_ids=T("4x3", low=0, high=10),
                batch_size=3,
                hidden_units=7,
                step=s,
            )
            for s in (2, 0, 3)
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "InputIdsEmbeddingLookupPosEncoding",
        *(
            dict(
                input_ids=T((n,), low=0, high=10),
                embedding_table="11x7",
                input_lengths=n,
                hidden_units=7,
            )
            for n in (5, 1, 0)
        ),
        layouts=LAYOUTS,
    ),
    refused(
        "GatherOutput",
        dict(
            ids=T("9x3", low=0, high=99),
            context_length=T("3", values=[5, 2, 0], plain=True),
            max_context_len=5,
            max_gen_step=9,
            max_output_len=9,
            batch_size=3,
        ),
        dict(ids=T("9x3x1", low=0, high=99)),
        dict(context_length=T("3x1", values=[5, 2, 0], plain=True)),
        dict(max_context_len=-1),
        dict(max_gen_step=-1),
        dict(output_ids="3x9x1"),
        dict(output_ids=T("3x9", dtype="int64")),
        data=[dict(context_length=T("3", values=[-9], plain=True))],
    ),
    refused(
        "PlusScalarInp",
        dict(inoutput="3x5", val=7, size=15),
        dict(inoutput="3"),
    ),
    refused(
        "UpdatePaddingCount",
        dict(input_lengths=T("3", values=[5, 2, 9], plain=True), max_input_length=9, batch_size=3),
        dict(total_padding_count="3x1"),
        dict(input_lengths=T("3x1", values=[5, 2, 9], plain=True)),
    ),
    refused(
        "TransposeAxis01",
        dict(input="3x5x7", dim0=3, dim1=5, dim2=7),
        dict(input="3x5x7x1"),
        dict(output="5x3x7x1"),
    ),
    refused(
        "EmbeddingLookupPosEncoding",
        dict(
            embedding_table="11x7",
            all_ids=T("4x3", low=0, high=10),
            batch_size=3,
            hidden_units=7,
            step=2,
        ),
        dict(from_tensor="3x7x1"),
        dict(embedding_table="11x7x1"),
        dict(all_ids=T("4x3x1", low=0, high=10)),
        dict(step=-1),
        data=[dict(all_ids=T("4x3", values=[-9]))],
    ),
    refused(
        "InputIdsEmbeddingLookupPosEncoding",
        dict(
            input_ids=T("5", low=0, high=10),
            embedding_table="11x7",
            input_lengths=5,
            hidden_units=7,
        ),
        dict(input_ids=T("-", low=0, high=10)),
        data=[dict(input_ids=T("5", values=[-9]))],
    ),
]
