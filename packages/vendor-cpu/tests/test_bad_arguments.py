"""Tests of invalid numbers: an operator rejects them with a reason, or they have a documented
meaning.
"""

from __future__ import annotations

import pytest

import support
from argument_trials import Trial, trials

UNUSED = {"comm_turn", "stream_mode", "other_kv_index"}
"""Hints that this vendor ignores."""
NEGATIVE = UNUSED | {
    # unbounded, or the minimum
    *("window_size_left", "window_size_right", "top_ks_size", "top_ps_size"),
    # determined by the size of a region
    *("sampling_ratio", "num_samples"),
    # a query for the size
    *("workspace_size", "pre_work_size", "persistent_workspace_size"),
    # no class, row or number is excluded
    *("ignore_index", "padding_idx", "growth_interval"),
    # a position or an amount of any sign
    *("diagonal", "from", "shifts", "offset", "val", "divisor_override", "pad_x0", "pad_x1"),
}
"""Parameters that may be -7 and less, with the meaning."""
HUGE = UNUSED | {
    # larger than the available range: all
    *("window_size_left", "window_size_right", "end", "diagonal", "top_k", "im2col_step"),
    *("max_input_len", "max_input_length", "max_k", "max_seqlen_q", "max_seqlen_kv"),
    *("p_max_len_in_batch", "top_ks_size", "top_ps_size", "fusion_level"),
    *("workspace_size", "pre_work_size", "persistent_workspace_size"),
    # no class or row is excluded
    *("ignore_index", "padding_idx"),
    # counts of earlier steps, and numbers of any size
    *("step", "group_size", "growth_interval", "divisor_override", "n", "to", "shifts", "offset"),
    *("val", "top_p_reset_ids", "ptr"),
}
"""Parameters that may be 2^31 - 1 and more, with the meaning."""


@pytest.fixture(scope="module")
def outcomes() -> dict[str, list[Trial]]:
    """Outcomes of each operator's calls."""
    found: dict[str, list[Trial]] = {name: [] for name in support.operators()}
    for trial in trials(support.tested_library(), support.operators()):
        found[trial.operator].append(trial)
    return found


def means_something(trial: Trial) -> bool:
    if trial.number is None:
        return False
    return trial.parameter in (NEGATIVE if trial.number < 0 else HUGE)


@pytest.mark.parametrize("name", support.operators())
def test_wrong_numbers_are_refused(outcomes: dict[str, list[Trial]], name: str) -> None:
    for trial in outcomes[name]:
        assert trial.outcome in ("taken", "refused", "declined"), trial
        if trial.outcome == "taken":
            assert means_something(trial), trial
        if trial.outcome == "refused":
            assert name in trial.detail, trial
            assert "bad_alloc" not in trial.detail, trial
