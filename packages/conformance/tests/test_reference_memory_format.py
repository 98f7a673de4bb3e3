"""A cast to the format ND copies the elements."""

from __future__ import annotations

import numpy as np

from suite_arguments import arguments_of, results_of


def test_casts_keep_the_elements() -> None:
    compared = 0
    for case, given in arguments_of("diopiNativeMemoryFormatCast"):
        got = results_of("diopiNativeMemoryFormatCast", given)["out"]
        assert np.array_equal(got, given["in"]), case
        of_result = results_of("diopiGetNativeMemoryFormat", {"input": got})["format"]
        assert of_result == given["format"], case
        compared += 1
    assert compared > 4
