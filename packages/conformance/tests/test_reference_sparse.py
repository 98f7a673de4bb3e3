"""Products of sparse matrices match dense ones and torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dl_conformance.case import T
from dl_conformance.sparse import Csr
from suite_arguments import arguments_of, results_of


def as_dense(sparse: Csr) -> Any:
    dense = np.zeros(sparse.shape, sparse.values.dtype)
    rows = np.repeat(np.arange(sparse.shape[0]), np.diff(sparse.crow_indices))
    dense[rows, sparse.col_indices] = sparse.values
    return dense


def test_products_are_those_of_dense_matrices() -> None:
    compared = 0
    for case, given in arguments_of("diopiSpMM"):
        got = results_of("diopiSpMM", given)["out"]
        want = as_dense(given["input"]) @ given["mat2"]
        np.testing.assert_allclose(
            got.astype(float), want.astype(float), 1e-14, 1e-14, err_msg=case
        )
        compared += 1
    assert compared > 8


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_products_are_those_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for case, given in arguments_of("diopiSpMM"):
        sparse = given["input"]
        if 0 in sparse.shape:
            continue
        parts = [torch.from_numpy(x) for x in (sparse.crow_indices, sparse.col_indices)]
        values = torch.from_numpy(sparse.values.astype(np.float64))
        matrix = torch.sparse_compressed_tensor(
            *parts, values, sparse.shape, layout=torch.sparse_csr, check_invariants=True
        )
        want = matrix.to_dense() @ torch.from_numpy(given["mat2"].astype(np.float64))
        got = results_of("diopiSpMM", given)["out"].astype(float)
        np.testing.assert_allclose(got, want.numpy(), 1e-12, 1e-12, err_msg=case)


def test_given_elements_are_held_where_they_are_not_0() -> None:
    sparse = Csr.of(T("2x3", csr="int32", values=[[0, 5, 0], [6, 0, 7]]), "key", "float32", "")
    assert sparse.crow_indices.tolist() == [0, 1, 3]
    assert sparse.col_indices.tolist() == [1, 0, 2]
    assert sparse.values.tolist() == [5, 6, 7]
    assert sparse.crow_indices.dtype == sparse.col_indices.dtype == np.int32
