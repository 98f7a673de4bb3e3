"""Norms of lists of tensors."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import OperatorError, Vendor
from suite import check_cases
from support import out_like


def test_cases_of_the_suite(vendor: Vendor) -> None:
    check_cases(vendor, "diopiForeachnormScalar")


def test_extremes_need_elements(vendor: Vendor) -> None:
    empty, out = out_like(vendor, (0,), "float32"), out_like(vendor, (), "float32")
    with pytest.raises(OperatorError, match=r"of an empty tensor is undefined"):
        vendor.op.ForeachnormScalar([out], [empty], np.inf)
