"""Variables that look like settings, but that nothing reads."""

from __future__ import annotations

import pytest

from dl_core.unread_variables import describe_unread


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("DL_FALBACK", "DL_FALBACK is set, but nothing reads it. Did you mean DL_FALLBACK?"),
        ("DL_CPU_DEVICE", "Did you mean DL_CPU_DEVICES?"),
        ("DL_DUMP", "nothing in dl reads it. The closest setting is DL_DUMP_OP_ARGS."),
        ("DL_TYPO", "DL_TYPO is set, but nothing in dl reads it."),
        ("DIPU_XYZ", "dl has no such setting; it can be unset."),
    ],
)
def test_an_unknown_variable_is_reported_with_the_closest_name(name: str, reason: str) -> None:
    (sentence,) = describe_unread({name: "1"})
    assert sentence.endswith(reason)


@pytest.mark.parametrize(
    "name",
    [
        "DL_CPU_DEVICES",
        "DL_CUDA_INTERNAL_SWITCH",
        "DL_TEST_ANYTHING",
        "DL_TUNING_DATABASE",
        "DLX_A",
        "dl_typo",
    ],
)
def test_variables_of_other_packages_are_not_reported(name: str) -> None:
    assert describe_unread({name: "1"}) == []


def test_plugins_have_variables_with_their_names() -> None:
    assert describe_unread({"DL_FAST_CHIP_CLOCK": "1"}, ["fast-chip"]) == []
    assert len(describe_unread({"DL_FAST_CHIP_CLOCK": "1"}, ["other"])) == 1


def test_an_empty_variable_counts_as_unset() -> None:
    assert describe_unread({"DL_TYPO": " "}) == []
