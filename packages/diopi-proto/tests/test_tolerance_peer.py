import math

import numpy as np
import pytest

from diopi_proto.tolerance import OpClass, compare, float32_to_bfloat16

FLOAT32 = dict(dtype="float32", op_class=OpClass.ROUNDING)


def peer_with(relative, reference, seed=0):
    """Return a float32 result with relative errors of up to ``relative``."""
    noise = np.random.default_rng(seed).uniform(-relative, relative, reference.shape)
    return (reference * (1 + noise)).astype(np.float32)


def test_twice_the_peer_s_relative_error_is_allowed_and_no_more():
    reference = np.random.default_rng(1).uniform(1, 2, 10_000)
    peer = peer_with(1e-4, reference)
    alone = compare(peer, reference, **FLOAT32)
    assert alone.wrong > 9_000
    as_good = compare(peer_with(1e-4, reference, seed=2), reference, peer=peer, **FLOAT32)
    assert as_good.ok
    assert as_good.peer_relative == pytest.approx(1e-4, rel=0.02)
    worse = compare(peer_with(1e-3, reference, seed=3), reference, peer=peer, **FLOAT32)
    assert worse.wrong > 5_000


def test_one_wrong_element_of_small_scale_is_caught_among_large_ones():
    rng = np.random.default_rng(4)
    reference = 10.0 ** rng.uniform(-15, 15, 100_000)
    reference[4321] = 1e-15
    peer, result = peer_with(1e-3, reference), peer_with(1e-3, reference, seed=5)
    assert compare(result, reference, peer=peer, **FLOAT32).ok
    result[4321] *= np.float32(1.01)
    outcome = compare(result, reference, peer=peer, **FLOAT32)
    assert (outcome.wrong, outcome.worst) == (1, (4321,))


def test_a_cancelled_element_of_the_peer_does_not_blind_the_others():
    rng = np.random.default_rng(6)
    reference = rng.uniform(1, 2, 10_000)
    reference[7] = 1e-17
    peer = reference.astype(np.float32)
    peer[7] = 1e-7
    result = peer.copy()
    result[7] = -1e-7
    assert compare(result, reference, peer=peer, **FLOAT32).ok
    result[99] *= np.float32(1.0001)
    outcome = compare(result, reference, peer=peer, **FLOAT32)
    assert (outcome.wrong, outcome.worst) == (1, (99,))
    assert outcome.peer_relative > 1e9
    assert outcome.peer_absolute == pytest.approx(1e-7)


def test_magnitude_decides_what_relative_means():
    reference, magnitude = np.array([1e-3, 1e-3]), np.array([100.0, 1.0])
    peer = np.array([1.1e-3, 1e-3], np.float32)
    result = np.array([1e-3, 1.1e-3], np.float32)
    arguments = dict(dtype="float32", op_class=OpClass.REDUCTION, magnitude=magnitude)
    assert compare(peer, reference, peer=peer, **arguments).ok
    outcome = compare(result, reference, peer=peer, **arguments)
    assert (outcome.wrong, outcome.worst) == (1, (1,))


def test_a_perfect_peer_adds_next_to_nothing():
    reference = np.random.default_rng(7).uniform(1.1, 1.9, 100)
    peer = reference.astype(np.float32)
    result = peer + np.float32(8 * 2.0**-23)
    assert compare(result, reference, peer=peer, **FLOAT32).wrong == 100


def test_a_peer_s_finite_elements_excuse_no_nan():
    reference = np.ones(5)
    peer = np.array([1, 2, 1, 1, 1], np.float32)
    result = np.array([1, 1, np.nan, 1, np.inf], np.float32)
    outcome = compare(result, reference, peer=peer, **FLOAT32)
    assert outcome.wrong == 2 and outcome.excused == 0


def test_what_is_not_finite_in_the_peer_excuses_exactly_the_same():
    reference = np.array([1.0, 2.0, 3.0, 4.0, math.inf])
    peer = np.array([np.nan, np.inf, np.inf, np.nan, np.nan], np.float32)
    result = np.array([np.nan, np.inf, -np.inf, 4.0, np.nan], np.float32)
    outcome = compare(result, reference, peer=peer, **FLOAT32)
    assert (outcome.wrong, outcome.worst) == (1, (2,))
    assert outcome.excused == 3
    assert "3 not finite, as in the peer's result" in outcome.report("sum")


def test_a_peer_that_saturates_does_not_excuse_a_result_that_does():
    reference, saturated = np.array([1e6]), np.array([65504], np.float16)
    outcome = compare(
        saturated, reference, dtype="float16", op_class=OpClass.ROUNDING, peer=saturated
    )
    assert (outcome.wrong, outcome.excused) == (1, 0)


def test_a_broken_peer_element_does_not_widen_the_others():
    reference = np.ones(4)
    peer = np.array([np.nan, np.inf, 1, 1], np.float32)
    result = np.array([1, 1, 1.001, 1], np.float32)
    outcome = compare(result, reference, peer=peer, **FLOAT32)
    assert outcome.worst == (2,) and outcome.wrong == 1
    assert outcome.peer_absolute == 0.0


def test_peers_of_bfloat16_and_complex():
    reference = np.random.default_rng(8).uniform(1, 2, 500)
    peer = float32_to_bfloat16(reference * 1.1)
    result = float32_to_bfloat16(reference * 0.85)
    arguments = dict(dtype="bfloat16", op_class=OpClass.ROUNDING)
    assert compare(result, reference, peer=peer, **arguments).ok
    assert not compare(float32_to_bfloat16(reference * 0.7), reference, peer=peer, **arguments).ok
    turned = (reference * np.exp(0.01j)).astype(np.complex64)
    arguments = dict(dtype="complex64", op_class=OpClass.ROUNDING, peer=turned)
    assert compare(turned.conj(), reference, **arguments).ok
    assert not compare(turned * np.complex64(np.exp(0.02j)), reference, **arguments).ok


def test_exact_operators_do_not_look_at_a_peer():
    reference = np.array([1, 2, 3])
    wrong = np.array([1, 2, 4])
    outcome = compare(wrong, reference, dtype="int64", op_class=OpClass.EXACT, peer=wrong)
    assert outcome.wrong == 1
    assert math.isnan(outcome.peer_relative)


@pytest.mark.parametrize("peer", [np.ones(3), np.ones(2, np.float32), np.ones((3, 1), np.float32)])
def test_a_peer_of_another_shape_or_dtype_is_refused(peer):
    with pytest.raises(ValueError, match=r"peer's result is .*: want float32 \(3,\)"):
        compare(np.ones(3, np.float32), np.ones(3), peer=peer, **FLOAT32)


def test_the_peer_s_share_is_in_the_report():
    reference = np.ones(3)
    peer = np.array([1, 1.25, 1], np.float32)
    outcome = compare(peer, reference, peer=peer, **FLOAT32)
    assert "2 x the peer's error (2.5e-01 of magnitude, at most 2.5e-01)" in outcome.report("add")
