"""The summary counts results by form and dtype, and operators by vendor."""

from __future__ import annotations

from dl_torch_tests.counts import Counts


def test_nothing_is_reported_of_other_tests() -> None:
    assert list(Counts().lines()) == []


def test_results_and_native_operators_are_counted() -> None:
    counts = Counts()
    counts.results["forward float32 on npu"].update({"all": 2, "right": 1, "samples": 7})
    counts.native["npu"] = {"exp": [True], "norm": [True, False]}
    assert list(counts.lines()) == [
        "OpInfo forward float32 on npu: 1 of 2 right, 7 samples",
        "OpInfo forward float32 without fallback on npu: 2 of 3 entries, 2 of 2 base operators "
        "(1 with all of their entries)",
    ]
