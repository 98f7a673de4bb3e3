"""References of token sampling match alternative formulas, in every case of the suite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from diopi_proto.tolerance.distribution import compare_distribution
from dl_conformance.case import Case
from dl_conformance.catalog import cases_of
from dl_conformance.execution import CaseInputs
from dl_conformance.reference import Array, as_expected, compute

Inputs = dict[str, Any]


def computed(name: str) -> Iterator[tuple[Case, Inputs, dict[str, Any]]]:
    """Yield the arguments and the results of the reference for the cases of an operator."""
    cases = [x for x in cases_of(f"diopi{name}") if x.layout == "contiguous"]
    assert cases
    for case in cases:
        inputs = CaseInputs(case)
        yield case, inputs.wide, inputs.expected()


def same(got: Any, want: Any, case: Case) -> None:
    np.testing.assert_allclose(
        np.asarray(as_expected(got).value, np.longdouble), want, rtol=1e-15, err_msg=case.name
    )


def tally(tokens: Array, counts: Array, vocabulary: int) -> Array:
    return np.bincount(tokens, counts, vocabulary).astype(np.longdouble)


def test_penalties_are_those_of_counts_of_all_tokens() -> None:
    for case, a, want in computed("ApplyPenalty"):
        ends, vocabulary = a["p_cumsum_seq_len"], a["logits"].shape[1]
        counts = np.stack(
            [
                tally(a["p_token_ids"][b:e], a["p_token_counts"][b:e], vocabulary)
                for b, e in pairwise(ends)
            ]
        )
        presence, frequency = a["presence_penalty"][:, None], a["frequency_penalty"][:, None]
        lowered = a["logits"] - (counts > 0) * presence - counts * frequency
        np.testing.assert_allclose(
            as_expected(want["logits"]).value, lowered, rtol=1e-15, atol=1e-17, err_msg=case.name
        )


def test_penalties_of_places_undo_each_other() -> None:
    for case, a, want in computed("ApplyPenaltyV2"):
        value = np.asarray(as_expected(want["logits"]).value).reshape(-1)
        others = np.delete(value, a["p_token_ids"])
        same(others, np.delete(a["logits"].reshape(-1), a["p_token_ids"]), case)
        back = value[a["p_token_ids"]] + a["presence_penalty"]
        back = back + a["p_token_counts"] * a["frequency_penalty"]
        ratio = back / a["logits"].reshape(-1)[a["p_token_ids"]]
        power = np.where(back > 0, -1, 1)
        np.testing.assert_allclose(ratio, a["repetition_penalty"] ** power, rtol=1e-12)


def test_repetition_is_penalized_where_a_token_was_seen() -> None:
    for case, a, want in computed("BatchApplyRepetitionPenaltyInp"):
        tokens = np.arange(a["vocab_size"])
        steps = np.arange(a["step"])[:, None]
        real = (steps < a["input_lengths"]) | (steps >= a["max_input_length"])
        hits = (a["output_ids"][: a["step"], :, None] == tokens) & real[..., None]
        seen = hits.any(axis=0)
        x, p = a["logits"], a["penalties"][:, None]
        changed = {0: x, 1: x - p, 2: np.minimum(x / p, x * p) * (p >= 1)}[a["penalty_type"]]
        if a["penalty_type"] == 2:
            # A penalty below 1 makes a token more likely.
            changed = changed + np.maximum(x / p, x * p) * (p < 1)
        same(want["logits"], np.where(seen, changed, x), case)


def test_temperatures_are_undone() -> None:
    for case, a, want in computed("BatchApplyTemperaturePenaltyInp"):
        value, vocabulary = np.asarray(as_expected(want["logits"]).value), a["vocab_size"]
        bias = 0 if a["bias"] is None else a["bias"]
        back = value * (a["temperatures"][:, None] + np.longdouble(1e-6)) - bias
        np.testing.assert_allclose(back[:, :vocabulary], a["logits"][:, :vocabulary], atol=1e-15)
        assert np.all(np.isfinite(value[:, vocabulary:])), case.name
        with np.errstate(over="ignore"):
            lower = np.nextafter(value[:, vocabulary:].astype(np.float64), -np.inf)
            if case.dtype in ("float16", "float32", "float64"):
                at = value[:, vocabulary:].astype(case.dtype)
                assert np.all(np.isneginf(np.nextafter(at, at.dtype.type(-np.inf)))), case.name
            else:
                assert np.all(lower.astype(np.float32) < -3.38e38), case.name


@pytest.mark.parametrize(
    ("k", "p", "want"),
    [
        (0, 0.0, (1, 1.0, False)),
        (5, 0.0, (5, 1.0, False)),
        (0, 0.75, (0, 0.75, True)),
        (2000, 1.5, (1024, 1.0, False)),
        (7, -0.5, (7, 0.0, False)),
    ],
)
def test_limits_of_top_k(k: int, p: float, want: tuple[int, float, bool]) -> None:
    for sizes in ((0, 0), (1, 1)):
        own = [np.array([x if s else 99], t) for x, s, t in zip((k, p), sizes, "if", strict=True)]
        given = dict(top_k=k, top_ks_size=sizes[0], top_p=p, top_ps_size=sizes[1], batch_size=1)
        found = compute(
            "diopiSetupTopkRuntimeArgsInp",
            {"top_ks": own[0], "top_ps": own[1], **given},
            {"top_ks", "top_ps", "skip_decode"},
        )
        assert tuple(x[0] for x in found.values()) == want


@pytest.mark.parametrize(
    ("k", "p", "decay", "least", "want"),
    [
        (0, 0.0, 0.5, 0.25, (1, 0.0, True, 0.0, 0.5, 0.25, 3)),
        (0, 0.75, 0.0, 0.0, (0, 0.75, False, 0.75, 1.0, 0.5, 3)),
        (4, 2.0, 1.5, 1.5, (4, 1.0, True, 1.0, 1.0, 0.5, 3)),
        (0, 1.0, 1.0, 1.0, (0, 1.0, False, 1.0, 1.0, 1.0, 3)),
    ],
)
def test_limits_of_top_p(k: int, p: float, decay: float, least: float, want: Any) -> None:
    names = "top_ks top_ps skip_decode initial_top_p_buf top_p_decay_buf top_p_min_buf"
    found = compute(
        "diopiSetupToppRuntimeArgsInp",
        dict(
            top_ks=np.array([9]),
            top_ps=np.array([9.0]),
            batch_size=1,
            top_k=k,
            top_ks_size=0,
            top_p=p,
            top_ps_size=0,
            top_p_decay=decay,
            top_p_min=least,
            top_p_reset_ids=3,
        ),
        {*names.split(), "top_p_reset_ids_buf"},
    )
    assert tuple(found[x][0] for x in (*names.split(), "top_p_reset_ids_buf")) == want


def join_tokens(tokens: Any) -> str:
    return "".join(f"<{x}>" for x in tokens)


def test_words_are_found_as_ends_of_texts() -> None:
    for name, output, last in (("BanBadWordsInp", "logits", 1), ("StopWordsCriterion", "", 0)):
        for case, a, want in computed(name):
            lists = a["bad_words" if output else "stop_words"]
            steps = a["step"] + (0 if output else 1)
            for n in range(a["batch_size"]):
                tokens, ends = lists if lists.ndim == 2 else lists[n]
                text = join_tokens(a["output_ids"][:steps, a["id_offset"] + n])
                parts = np.split(tokens, ends[ends >= 0])[: np.count_nonzero(ends >= 0)]
                found = [x for x in parts if text.endswith(join_tokens(x[: len(x) - last]))]
                if output:
                    banned = {int(x[-1]) for x in found} - {0}
                    infinite = set(np.flatnonzero(np.isneginf(want["logits"][n])).tolist())
                    assert infinite == {x for x in banned if x < a["vocab_size"]}, case.name
                else:
                    assert want["finished"][n] == (bool(found) or a["finished"][n]), case.name


def test_lengths_stop_sequences() -> None:
    for case, a, want in computed("LengthCriterion"):
        open_ = [
            i
            for i, limit in enumerate(a["sequence_limit_length"])
            if limit > a["step"] and not a["finished"][i]
        ]
        assert np.flatnonzero(~want["finished"]).tolist() == open_, case.name
        assert want["finished_sum"][0] == a["batch_size"] - len(open_)
        assert want["should_stop"][0] == (not open_)


@pytest.mark.parametrize("name", ["TopKSampling", "TopPSampling"])
def test_probabilities_are_those_of_softmax(name: str) -> None:
    torch = pytest.importorskip("torch")
    compared = 0
    for case, a, want in computed(name):
        logits = torch.from_numpy(a["logits"].astype(np.float64))
        every = torch.log_softmax(logits, 1)
        drawn = np.asarray(want["output_ids"][a["step"]])
        for n, token in enumerate(drawn):
            if any(a[x] is not None and a[x][n] for x in ("skip_decode", "finished")):
                continue
            alone = every[n, token].item()
            if a["cum_log_probs"] is not None:
                more = float(as_expected(want["cum_log_probs"]).value[n] - a["cum_log_probs"][n])
                assert abs(more - alone) < 2e-6, case.name
                compared += 1
            if a["output_log_probs"] is not None:
                if name == "TopKSampling":
                    k = int(np.clip(a["runtime_top_k"][n], 1, logits.shape[1]))
                    alone -= torch.topk(every[n], k).values.logsumexp(0).item()
                got = float(as_expected(want["output_log_probs"]).value[n])
                assert abs(got - alone) < 2e-6, case.name
    assert compared


@pytest.mark.parametrize(
    ("operator", "limits", "kept"),
    [
        ("TopK", dict(runtime_top_k=np.array([3]), runtime_top_p=np.array([1.0])), 3),
        ("TopP", dict(runtime_top_p=np.array([1.0])), 5),
        ("TopP", dict(runtime_top_p=np.array([0.6])), 3),
    ],
)
def test_tokens_are_drawn_with_their_probabilities(
    operator: str, limits: Inputs, kept: int
) -> None:
    logits = np.log(np.array([[0.1, 0.3, 0.05, 0.25, 0.3]], np.longdouble))
    order = [1, 4, 3, 0, 2]
    sampled = []
    for seed in range(3000):
        found = compute(
            f"diopi{operator}Sampling",
            dict(
                output_ids=np.zeros((1, 1), int),
                logits=logits,
                end_ids=np.array([9]),
                finished=None,
                sequence_lengths=None,
                step=0,
                vocab_size_padded=5,
                skip_decode=None,
                cum_log_probs=None,
                output_log_probs=None,
                generators=[(seed, 2)],
                fusion_level=0,
                workspace=None,
                workspace_size=0,
                **limits,
                **(
                    dict(persistent_workspace=None, persistent_workspace_size=0)
                    if operator == "TopP"
                    else {}
                ),
            ),
            {"output_ids"},
        )
        sampled.append(order.index(int(found["output_ids"][0, 0])))
    p = float(limits["runtime_top_p"][0])
    steps = np.cumsum([0, *np.exp(logits[0])[order[:kept]]]).astype(float)
    # If p cuts off the last candidate, it has the remaining probability.
    steps = np.minimum(steps / (steps[-1] if operator == "TopK" else p), 1)
    result = compare_distribution(
        np.array(sampled),
        lambda x: steps[np.minimum(x.astype(int) + 1, kept)],
        lambda x: steps[np.minimum(x.astype(int), kept)],
    )
    assert result.ok, result.report(operator)
