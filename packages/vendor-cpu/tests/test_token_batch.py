"""Tests of the batches of a language-model server."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like

OPERATORS = (
    *("GatherOutput", "PlusScalarInp", "UpdatePaddingCount", "TransposeAxis01"),
    *("EmbeddingLookupPosEncoding", "InputIdsEmbeddingLookupPosEncoding"),
)


@pytest.mark.parametrize("name", OPERATORS)
def test_cases_of_the_suite(vendor: Vendor, name: str) -> None:
    check_cases(vendor, f"diopi{name}")


def test_padding_leaves_the_middle_of_a_sequence(vendor: Vendor) -> None:
    ids = vendor.tensor(np.array([[1, 11], [2, -1], [3, -1], [4, 12]]))
    out = out_like(vendor, (2, 4), "int64")
    vendor.op.GatherOutput(out, ids, vendor.tensor(np.array([3, 1])), 3, 4, 4, 2)
    assert out.numpy().tolist() == [[1, 2, 3, 4], [11, 12, 0, 0]]


def test_bad_arguments_are_reported(vendor: Vendor) -> None:
    table, out = out_like(vendor, (4, 3), "float32"), out_like(vendor, (1, 3), "float32")
    wrong = vendor.tensor(np.array([[0], [4]]))
    with pytest.raises(OperatorError, match="index 4 at position 0 is out of range"):
        vendor.op.EmbeddingLookupPosEncoding(out, table, wrong, 1, 3, 1)
    with pytest.raises(OperatorError, match="step is 2; all_ids has 2 steps"):
        vendor.op.EmbeddingLookupPosEncoding(out, table, wrong, 1, 3, 2)
    with pytest.raises(OperatorError, match="size is 3; inoutput has 2 elements"):
        vendor.op.PlusScalarInp(vendor.tensor(np.array([1, 2])), 1, 3)
    lengths, tokens = vendor.tensor(np.array([4])), vendor.tensor(np.array([[1], [2], [3]]))
    with pytest.raises(OperatorError, match="index 4 at position 0 is out of range"):
        vendor.op.GatherOutput(out_like(vendor, (1, 3), "int64"), tokens, lengths, 3, 3, 3, 1)
