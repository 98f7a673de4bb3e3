import numpy as np
import pytest

from diopi_proto.tolerance import Comparison, OpClass, compare
from diopi_proto.tolerance.comparison import distinct

NAME = "softmax[float16-4x7-dim1] on rocm"


def outcome_of(changes, dtype="float16", op_class=OpClass.ROUNDING):
    reference = np.full((4, 7), 0.125)
    result = reference.astype(dtype)
    for at, value in changes.items():
        result[at] = value
    return compare(result, reference, dtype=dtype, op_class=op_class)


def test_report_of_wrong_elements():
    outcome = outcome_of({(0, 0): 0.126, (2, 5): 0.1302, (3, 6): 0.124})
    assert outcome.report(NAME) == (
        f"{NAME}: 3 of 28 elements differ from the reference\n"
        "  worst at (2, 5): got 0.1302, want 0.1250, off by 5.2e-03, allowed 1.8e-04"
        " (28.7 times the bound)\n"
        "  allowed is 1.5 ulp of float16"
    )


def test_report_of_one_wrong_element():
    assert "1 of 28 elements differs from" in outcome_of({(1, 1): 3.0}).report(NAME)


def test_report_of_agreement():
    first, worst, bound = outcome_of({}).report(NAME).split("\n")
    assert first == f"{NAME}: 28 of 28 elements agree with the reference"
    assert "(0 times the bound)" in worst and bound == "  allowed is 1.5 ulp of float16"


def test_report_of_a_swallowed_nan():
    report = outcome_of({(3, 0): np.nan}).report(NAME)
    assert "worst at (3, 0): got nan, want 0.1250, off by inf" in report


def test_report_of_indices_in_one_and_no_dimension():
    for shape, at in [((3,), "(0,)"), ((), "()")]:
        outcome = compare(
            np.zeros(shape, np.int64), np.ones(shape, int), dtype="int64", op_class=OpClass.EXACT
        )
        assert f"worst at {at}: got 0, want 1, off by 1.0e+00, allowed 0.0e+00" in outcome.report(
            "x"
        )


def test_report_of_shape_dtype_and_emptiness():
    def report(result, reference):
        bound = dict(dtype="float16", op_class=OpClass.ROUNDING)
        return compare(result, reference, **bound).report("add")

    half = np.ones((2, 3), np.float16)
    assert report(half, np.ones((3, 2))) == "add: shape is (2, 3), want (3, 2)"
    assert report(half.astype(float), np.ones((2, 3))) == "add: dtype is float64, want float16"
    assert report(half[:0], np.ones((0, 3))) == "add: no elements to compare"


@pytest.mark.parametrize(
    ("got", "want", "texts"),
    [
        (0.124, 0.1302, ("0.1240", "0.1302")),
        (1.0, 1.0, ("1.000", "1.000")),
        (1.00000012, 1.0, ("1.0000001", "1.0000000")),
        (1.0 + 2.0**-52, 1.0, ("1.000000000000000222", "1.000000000000000000")),
        (2**60 + 1, 2**60, ("1152921504606846977", "1152921504606846976")),
        (True, False, ("True", "False")),
        (1 + 2j, 1 + 2.5j, ("1.000+2.000j", "1.000+2.500j")),
        (float("nan"), 1.0, ("nan", "1.000")),
        (float("inf"), -float("inf"), ("inf", "-inf")),
        (0.0, -0.0, ("0.000", "-0.000")),
    ],
)
def test_got_and_want_are_distinguished(got, want, texts):
    mine = distinct(got, want)
    assert mine[0] != mine[1] or got == want
    if got != 1.0 + 2.0**-52:
        assert mine == texts


def test_comparisons_are_values():
    assert Comparison(True, 1, 0, cosine=1.0) != Comparison(True, 1, 0, cosine=0.5)
    assert outcome_of({}, op_class=OpClass.EXACT).allowed == 0.0
