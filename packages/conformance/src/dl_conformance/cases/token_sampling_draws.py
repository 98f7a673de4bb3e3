"""Top-k and top-p sampling, draw by draw."""

from dl_conformance.cases.token_sampling import LAYOUTS, numbers
from dl_conformance.vocabulary import T, calls

STATES = [(5, 0), (6, 0), (5, 1), ((3 << 32) + 1, (1 << 32) + 7), (9, 2)]


def draw(
    top_k,
    top_p,
    vocabulary=41,
    steps=3,
    step=1,
    logits=None,
    ids=None,
    end=(7, 7, 7, 7, 7),
    states=STATES,
    **given,
):
    batch = len(states)
    every = dict(
        output_ids=T((steps, batch), low=50, high=90, dtype=ids),
        logits=logits or T((batch, vocabulary), low=-4, high=4),
        fusion_level=0,
        end_ids=numbers(*end[:batch]),
        finished=None,
        sequence_lengths=None,
        step=step,
        vocab_size_padded=vocabulary,
        runtime_top_p=numbers(*top_p),
        skip_decode=None,
        cum_log_probs=None,
        output_log_probs=None,
        generators=list(states),
    )
    if top_k is not None:
        every["runtime_top_k"] = numbers(*top_k)
    return {**every, **given}


FLAGS = dict(
    finished=numbers(False, True, False, True, False),
    sequence_lengths=numbers(3, 4, 5, 6, 7),
    skip_decode=numbers(False, False, True, True, False),
    cum_log_probs=numbers(-1.5, -2.5, -3.5, -4.5, 0.0),
    output_log_probs=numbers(9, 9, 9, 9, 9),
)
SUMS = {k: FLAGS[k] for k in ("cum_log_probs", "output_log_probs")}
ENDS = dict(FLAGS, skip_decode=None, finished=numbers(*[False] * 5))
P = (1.0, 0.9, 0.5, 0.25, 0.75)
K = (41, 1, 9, 4, 20)
# PEAK: one token is far more likely than any other. FLAT: all are equally likely.
PEAK = T((5, 41), values=[0] * 6 + [30] + [0] * 34)
FLAT = T((5, 41), values=[0.5])


def ways(top_k):
    k = (lambda x: x) if top_k else (lambda x: None)
    ones = (1.0,) * 5
    yield draw(k(K), P, **FLAGS)
    yield draw(k(K), P)
    yield draw(k(K), P, **SUMS)
    yield draw(k(K), P, cum_log_probs=SUMS["cum_log_probs"], step=0)
    yield draw(k(K), P, output_log_probs=SUMS["output_log_probs"], step=2)
    yield draw(k(K), ones, states=[(seed, 0) for seed in range(30, 35)], **FLAGS)
    yield draw(k((3,) * 5), ones, states=[(40, offset) for offset in range(5)], **SUMS)
    yield draw(k((0, -3, 2000, 41, 42)), (0.0, -1.0, 2.0, 1.0, 0.5), **SUMS)
    yield draw(k(K), P, logits=PEAK, end=(6,) * 5, **ENDS)
    yield draw(k(K), P, logits=FLAT, **SUMS)
    yield draw(k(K), P, finished=FLAGS["finished"])
    yield draw(k(K), P, sequence_lengths=FLAGS["sequence_lengths"])
    yield draw(k(K), P, ids="int64", **FLAGS)
    yield draw(
        k((1,)), (1.0,), vocabulary=1, states=STATES[:1], **{name: numbers(0.0) for name in SUMS}
    )
    yield draw(
        k((300,)),
        (0.95,),
        vocabulary=3001,
        states=STATES[3:4],
        **{name: numbers(0.0) for name in SUMS},
    )


CASES = [
    calls("TopKSampling", *ways(True), layouts=LAYOUTS),
    calls(
        "TopKSampling",
        draw((1,) * 70, (1.0,) * 70, states=[(seed, 3) for seed in range(70)], end=(7,) * 70),
        draw((30,) * 70, (1.0,) * 70, states=[(seed, 3) for seed in range(70)], end=(7,) * 70),
        dtypes="float32",
        layouts=(),
    ),
    calls("TopPSampling", *ways(False), layouts=LAYOUTS),
]
