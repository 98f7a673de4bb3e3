"""Logits processing and stop criteria: penalties, temperatures, limits, banned words."""

from dl_conformance.vocabulary import T, calls

LAYOUTS = ("transposed", "strided", "offset")


def numbers(*values, dtype=None):
    return T((len(values),), values=list(values), dtype=dtype)


def matrix(*rows, dtype=None):
    return T((len(rows), len(rows[0])), values=[list(x) for x in rows], dtype=dtype)


def lists(*each, dtype=None):
    """Return words for each sequence, as tokens and end offsets."""
    shape = (len(each), 2, len(each[0][0]))
    return T(shape, values=[list(map(list, x)) for x in each], dtype=dtype)


# Three sequences with 4, 0 and 2 tokens.
SEEN = dict(
    logits="3x9",
    presence_penalty=T("3", low=-1, high=2),
    frequency_penalty=T("3", low=-1, high=2),
    p_token_ids=numbers(8, 0, 3, 5, 0, 7),
    p_token_counts=numbers(1, 2, 9, 40, 1, 3),
    p_cumsum_seq_len=numbers(0, 4, 4, 6),
    p_max_len_in_batch=4,
)
NOTHING = numbers()
LONG = dict(dtype="int64")

PENALTIES = [
    calls(
        "ApplyPenalty",
        SEEN,
        {**SEEN, "p_token_ids": numbers(8, 0, 3, 5, 0, 7, **LONG)},
        {**SEEN, "p_token_counts": numbers(1, 2, 9, 40, 1, 3, **LONG)},
        {**SEEN, "p_cumsum_seq_len": numbers(0, 4, 4, 6, **LONG)},
        {
            **SEEN,
            "p_token_ids": NOTHING,
            "p_token_counts": NOTHING,
            "p_cumsum_seq_len": numbers(0, 0, 0, 0),
            "p_max_len_in_batch": 0,
        },
        dict(
            logits="1x300",
            presence_penalty="1",
            frequency_penalty="1",
            p_token_ids=T("257", values=list(range(299, 42, -1))),
            p_token_counts=T("257", low=1, high=9),
            p_cumsum_seq_len=numbers(0, 257),
            p_max_len_in_batch=257,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "ApplyPenaltyV2",
        *(
            dict(
                logits="3x9",
                presence_penalty=T("5", low=-1, high=2),
                frequency_penalty=T("5", low=-1, high=2),
                repetition_penalty=T("5", low=0.5, high=2),
                p_token_ids=numbers(26, 0, 13, 7, 9, dtype=d),
                p_token_counts=numbers(1, 3, 2, 7, 1, dtype=c),
            )
            for d, c in ((None, None), ("int64", None), (None, "int64"))
        ),
        dict(
            logits="2x5",
            presence_penalty="0",
            frequency_penalty="0",
            repetition_penalty="0",
            p_token_ids=NOTHING,
            p_token_counts=NOTHING,
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "BatchApplyRepetitionPenaltyInp",
        *(
            dict(
                logits="3x9",
                penalties=T("3", low=0.5, high=2),
                # Padding is not a token.
                output_ids=matrix(
                    *((1, 2, 0), (3, 8, 0), (5, -1, 4), (8, 99, 6), (7, 6, 1), (0, 7, 7)),
                    dtype=d,
                ),
                batch_size=3,
                vocab_size=9,
                input_lengths=numbers(4, 2, 3, dtype=n),
                max_input_length=4,
                step=s,
                penalty_type=t,
            )
            for t, s, d, n in (
                (2, 5, None, None),
                (1, 5, None, None),
                (2, 6, "int64", None),
                (1, 6, None, "int64"),
                (0, 6, None, None),
                (2, 0, None, None),
            )
        ),
        layouts=LAYOUTS,
    ),
    calls(
        "BatchApplyTemperaturePenaltyInp",
        *(
            dict(
                logits="3x41",
                bias=b,
                temperatures=T("3", low=0.1, high=2),
                batch_size=3,
                vocab_size=v,
                vocab_size_padd=41,
            )
            for b, v in (("41", 37), (None, 37), ("41", 41), ("41", 0))
        ),
        dict(
            logits="0x5",
            bias="5",
            temperatures="0",
            batch_size=0,
            vocab_size=5,
            vocab_size_padd=5,
        ),
        layouts=LAYOUTS,
    ),
]

KS = numbers(0, 0, 5, 2000, 7)
PS = numbers(0.0, 0.75, 0.0, 1.5, -0.25)
BUFFERS = [(0.25, 0.75, 3), (0.0, 0.0, -1), (1.0, 1.0, 0), (1.5, 2.0, 7), (-0.5, -1.0, 7)]
SCALARS = [(3, 5, 0.5, 5), (0, 0, 0.5, 5), (0, 0, 0.0, 0), (3, 5, 0.0, 0), (2000, 0, 2.0, 0)]


def limits(ks, ps, sizes, **more):
    k, ks_size, p, ps_size = sizes
    return dict(
        top_ks=ks,
        top_ps=ps,
        batch_size=ks.sizes[0],
        top_k=k,
        top_ks_size=ks_size,
        top_p=p,
        top_ps_size=ps_size,
        **more,
    )


LIMITS = [
    calls(
        "SetupTopkRuntimeArgsInp",
        *(limits(KS, PS, x) for x in SCALARS),
        limits(numbers(0, 0, 5, 2000, 7, **LONG), PS, SCALARS[0]),
        limits(numbers(), numbers(), (3, 1, 0.5, 1)),
        layouts=LAYOUTS,
    ),
    calls(
        "SetupToppRuntimeArgsInp",
        *(
            limits(KS, PS, x, top_p_decay=d, top_p_min=m, top_p_reset_ids=r)
            for x in SCALARS[:3]
            for d, m, r in BUFFERS
        ),
        limits(
            numbers(0, 0, 5, 2000, 7, **LONG),
            PS,
            SCALARS[0],
            top_p_decay=0.25,
            top_p_min=0.75,
            top_p_reset_ids=1 << 20,
        ),
        layouts=LAYOUTS,
    ),
]

# Words 3 4, 5 and 6 7 8; for the second sequence, 2 and 0.
WORDS = dict(
    own=(
        ((3, 4, 5, 6, 7, 8), (2, 3, 6, -1, -1, -1)),
        ((2, 0, 0, 0, 0, 0), (1, 2, -1, -1, -1, -1)),
    ),
    none=(((1, 2, 3), (-1, -1, -1)), ((1, 2, 3), (-1, -1, -1))),
)
HISTORY = ((9, 9, 1), (6, 6, 3), (7, 7, 2), (3, 8, 9), (3, 2, 6), (4, 3, 5))


def words(name, dtype=None):
    each = WORDS[name]
    return lists(*each, dtype=dtype), len(each[0][0])


def ban(name, step, shared=False, offset=0, ids=None, dtype=None, vocabulary=9):
    given, length = words(name, dtype)
    if shared:
        given = matrix(*WORDS[name][0])
    return dict(
        logits=T((2, vocabulary)),
        output_ids=matrix(*HISTORY, dtype=ids),
        bad_words=given,
        id_offset=offset,
        bad_words_len=length,
        share_words=shared,
        batch_size=2,
        vocab_size=vocabulary,
        step=step,
    )


def stop(name, step, offset=0, finished=(False, False)):
    given, length = words(name)
    return dict(
        output_ids=matrix(*HISTORY),
        stop_words=given,
        finished=numbers(*finished),
        id_offset=offset,
        stop_words_len=length,
        batch_size=2,
        step=step,
    )


CRITERIA = [
    calls(
        "BanBadWordsInp",
        *(ban("own", s) for s in (4, 3, 5, 1, 0)),
        ban("own", 3, shared=True),
        ban("own", 5, offset=1),
        ban("own", 3, ids="int64"),
        ban("own", 3, dtype="int64"),
        ban("own", 4, vocabulary=5),
        ban("none", 3),
        layouts=LAYOUTS,
    ),
    calls(
        "StopWordsCriterion",
        *(stop("own", s) for s in (5, 4, 3, 0)),
        *(stop("own", s, offset=1) for s in (3, 2, 5)),
        stop("own", 4, finished=(True, False)),
        stop("own", 1, finished=(True, False)),
        stop("none", 5),
        layouts=LAYOUTS,
    ),
    calls(
        "LengthCriterion",
        *(
            dict(
                finished=numbers(*f),
                sequence_limit_length=numbers(*n),
                batch_size=len(f),
                step=s,
            )
            for f, n, s in (
                ((False, True, False, False), (5, 9, 4, 6), 5),
                ((False, False), (5, 4), 5),
                ((True, False), (5, 9), 3),
                ((False,), (1,), 0),
                ((), (), 3),
            )
        ),
        dict(
            finished=T("300", dtype="bool"),
            sequence_limit_length=T("300", low=0, high=9),
            batch_size=300,
            step=4,
        ),
        layouts=LAYOUTS,
    ),
]

CASES = [*PENALTIES, *LIMITS, *CRITERIA]
