"""Tests of next-token selection of a language model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diopi_proto import Generator, OperatorError, Tensor, Vendor
from suite import check_cases
from support import Array, out_like

OPERATORS = (
    *("ApplyPenalty", "ApplyPenaltyV2", "SetupTopkRuntimeArgsInp", "SetupToppRuntimeArgsInp"),
    *("TopKSampling", "TopPSampling", "BanBadWordsInp", "StopWordsCriterion", "LengthCriterion"),
    *("BatchApplyRepetitionPenaltyInp", "BatchApplyTemperaturePenaltyInp"),
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def sampling(vendor: Vendor, logits: Array, **given: Any) -> dict[str, Any]:
    """Return the arguments of a draw for each row of logits."""
    batch, vocabulary = logits.shape
    return {
        "output_ids": out_like(vendor, (1, batch), "int64"),
        "logits": vendor.tensor(logits),
        "workspace": None,
        "workspace_size": 0,
        "fusion_level": 0,
        "end_ids": vendor.tensor(np.full(batch, vocabulary - 1)),
        "finished": None,
        "sequence_lengths": None,
        "step": 0,
        "vocab_size_padded": vocabulary,
        "runtime_top_p": vendor.tensor(np.ones(batch, np.float32)),
        "skip_decode": None,
        "cum_log_probs": None,
        "output_log_probs": None,
        "generators": [Generator(seed=n) for n in range(batch)],
        **given,
    }


def top_p(vendor: Vendor, logits: Array, **given: Any) -> Array:
    both = {"persistent_workspace": None, "persistent_workspace_size": 0}
    arguments = {**sampling(vendor, logits), **both, **given}
    vendor.op.TopPSampling(**arguments)
    tokens: Array = arguments["output_ids"].numpy()
    return tokens[0]


def top_k(vendor: Vendor, logits: Array, k: int, **given: Any) -> Array:
    ks = vendor.tensor(np.full(len(logits), k))
    arguments = {**sampling(vendor, logits), "runtime_top_k": ks, **given}
    vendor.op.TopKSampling(**arguments)
    tokens: Array = arguments["output_ids"].numpy()
    return tokens[0]


def rows(count: int, width: int) -> Array:
    return np.random.default_rng(3).normal(size=(count, width)).astype(np.float32) * 3


def test_one_candidate_is_the_most_likely(vendor: Vendor) -> None:
    logits = rows(9, 5003)
    assert np.array_equal(top_k(vendor, logits, 1), logits.argmax(1))
    nothing = vendor.tensor(np.zeros(9, np.float32))
    assert np.array_equal(top_p(vendor, logits, runtime_top_p=nothing), logits.argmax(1))


def test_all_candidates_are_those_of_both_ways(vendor: Vendor) -> None:
    logits = rows(300, 1024)
    assert np.array_equal(top_k(vendor, logits, 1024), top_p(vendor, logits))
    assert len(set(top_p(vendor, logits).tolist())) > 100


def test_generators_advance_by_a_step_each(vendor: Vendor) -> None:
    one = Generator(seed=3, offset=8)
    generators = [Generator(seed=1, offset=5), one, one]
    skip = vendor.tensor(np.array([True, False, False]))
    for draw in (
        lambda **g: top_k(vendor, rows(3, 7), 4, **g),
        lambda **g: top_p(vendor, rows(3, 7), **g),
    ):
        before = [g.offset for g in generators]
        draw(generators=generators, skip_decode=skip)
        assert generators[0].offset == before[0] + 1
        assert one.offset == before[1] + 2


def test_a_shared_generator_draws_for_one_after_the_other(vendor: Vendor) -> None:
    logits = rows(3, 500)
    shared = Generator(seed=7, offset=2)
    apart = [Generator(seed=7, offset=2 + n) for n in range(3)]
    want = top_p(vendor, logits, generators=apart)
    assert np.array_equal(top_p(vendor, logits, generators=[shared] * 3), want)


def test_logits_that_are_not_numbers_give_a_token(vendor: Vendor) -> None:
    for bad in (np.nan, np.inf, -np.inf):
        logits = np.full((2, 6), bad, np.float32)
        for tokens in (top_p(vendor, logits), top_k(vendor, logits, 3)):
            assert ((tokens >= 0) & (tokens < 6)).all()
    logits = np.array([[-np.inf, 1, -np.inf]] * 50, np.float32)
    assert (top_p(vendor, logits) == 1).all()
    assert (top_k(vendor, logits, 3) == 1).all()


def test_workspace_sizes_are_returned(vendor: Vendor) -> None:
    sizes = {"workspace_size": -1, "persistent_workspace_size": -1}
    one = Generator(seed=4)
    given = sampling(vendor, rows(1, 5), generators=[one], persistent_workspace=None)
    before = given["output_ids"].numpy().copy()
    assert min(vendor.op.TopPSampling(**{**given, **sizes})) >= 0
    assert np.array_equal(given["output_ids"].numpy(), before)
    assert one.offset == 0


def row(vendor: Vendor, *values: Any, dtype: str | None = None) -> Tensor:
    return vendor.tensor(np.array(values), dtype=dtype)


def floats(vendor: Vendor, *values: float) -> Tensor:
    return vendor.tensor(np.array(values, np.float32))


def test_bad_arguments_of_sampling_are_reported(vendor: Vendor) -> None:
    logits = rows(2, 5)
    for name, value, message in (
        ("step", 1, "step is 1; output_ids has 1 steps"),
        ("step", -1, "step is -1; output_ids has 1 steps"),
        ("vocab_size_padded", 6, "logits has the shape"),
        ("end_ids", row(vendor, 1), "end_ids has the shape"),
        ("runtime_top_p", floats(vendor, 1), "runtime_top_p has the shape"),
        ("generators", [Generator()], "logits has the shape"),
    ):
        with pytest.raises(OperatorError, match=message):
            top_p(vendor, logits, **{name: value})
    with pytest.raises(OperatorError, match="runtime_top_k has the shape"):
        top_k(vendor, logits, 3, runtime_top_k=row(vendor, 3))
    with pytest.raises(OperatorError, match="no tokens to draw from"):
        top_p(vendor, rows(2, 0))
    with pytest.raises(OperatorError, match="diopiDtypeNotSupported"):
        top_p(vendor, logits, runtime_top_p=vendor.tensor(np.ones(2)))


def test_bad_penalties_are_reported(vendor: Vendor) -> None:
    def penalize(tokens: Tensor, parts: Tensor) -> None:
        one = floats(vendor, 1)
        logits = vendor.tensor(rows(1, 4))
        vendor.op.ApplyPenalty(logits, one, one, tokens, row(vendor, 1, 1), parts, 2)

    with pytest.raises(OperatorError, match="index 4 at position 1 is out of range"):
        penalize(row(vendor, 0, 4), row(vendor, 0, 2))
    for parts in ((0, 3), (-1, 2), (2, 1)):
        with pytest.raises(OperatorError, match=r"sequence 0 has an invalid range .* of 2"):
            penalize(row(vendor, 0, 1), row(vendor, *parts))
    ones = floats(vendor, 1, 1)
    places, counts = row(vendor, -1, 3), row(vendor, 1, 1)
    with pytest.raises(OperatorError, match="index -1 at position 0 is out of range"):
        vendor.op.ApplyPenaltyV2(vendor.tensor(rows(2, 2)), ones, ones, ones, places, counts)

    def repeat(tokens: Array, length: int, step: int) -> None:
        logits = vendor.tensor(rows(1, 4))
        lengths, history = row(vendor, length), vendor.tensor(tokens)
        one = floats(vendor, 2)
        vendor.op.BatchApplyRepetitionPenaltyInp(logits, one, history, 1, 4, lengths, 2, step, 2)

    with pytest.raises(OperatorError, match="index 9 at position 1 is out of range"):
        repeat(np.array([[1], [9]]), 2, 2)
    repeat(np.array([[1], [9]]), 1, 2)
    with pytest.raises(OperatorError, match="step is 3; output_ids has 2 steps"):
        repeat(np.array([[1], [2]]), 2, 3)
    with pytest.raises(OperatorError, match=r"vocab_size is 5; it must be in \[0, 4\]"):
        vendor.op.BatchApplyTemperaturePenaltyInp(
            vendor.tensor(rows(1, 4)), None, floats(vendor, 1), 1, 5, 4
        )


def test_bad_words_are_reported(vendor: Vendor) -> None:
    history, logits = vendor.tensor(np.ones((3, 2), int)), vendor.tensor(rows(1, 4))

    def ban(words: Any, offset: int = 0, step: int = 2) -> None:
        lists = vendor.tensor(np.array(words))
        length = lists.shape[-1]
        vendor.op.BanBadWordsInp(logits, history, lists, offset, length, False, 1, 4, step)

    with pytest.raises(OperatorError, match="word 1 ends at 3; its list has 2 tokens"):
        ban([[[1, 2], [1, 3]]])
    with pytest.raises(OperatorError, match="id_offset is 2 for 1 sequences"):
        ban([[[1, 2], [1, 2]]], offset=2)
    with pytest.raises(OperatorError, match="4 steps are needed; output_ids has 3"):
        ban([[[1, 2], [1, 2]]], step=4)
    with pytest.raises(OperatorError, match="the list of words has the shape"):
        ban([[1, 2], [1, 2]])
    finished = row(vendor, False)
    words = vendor.tensor(np.array([[[1], [1]]]))
    with pytest.raises(OperatorError, match="step is 3; output_ids has 3 steps"):
        vendor.op.StopWordsCriterion(history, words, finished, 0, 1, 1, 3)
    with pytest.raises(OperatorError, match="should_stop and finished_sum have 2 and 1 elements"):
        vendor.op.LengthCriterion(
            finished, row(vendor, False, False), row(vendor, 0), row(vendor, 3), 1, 2
        )
