"""Inputs are the same on every machine and with every version of NumPy."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from dl_conformance.case import T
from dl_conformance.catalog import all_cases, in_sample
from dl_conformance.inputs import integers, uniform, words


def digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def test_words_are_those_of_philox() -> None:
    assert digest(words("conformance", 1000)) == "12beb0eb74cdd2dd"


def test_transforms_give_the_same_elements_everywhere() -> None:
    assert digest(uniform("conformance", 1000, -3, 3)) == "3e9b497f24fe3159"
    assert digest(integers("conformance", 1000, -7, 9)) == "ec19b4d9a81d5e98"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "complex64", "uint8", "bool"])
def test_elements_differ_by_key_and_not_by_time(dtype: str) -> None:
    tensor = T("5x41")
    assert digest(tensor.elements("a", dtype, "")) == digest(tensor.elements("a", dtype, ""))
    assert digest(tensor.elements("a", dtype, "")) != digest(tensor.elements("b", dtype, ""))


def test_names_of_cases_are_unique() -> None:
    names = [case.name for case in all_cases()]
    assert len(names) == len(set(names)) > 12000


def test_samples_of_other_seeds_are_others() -> None:
    names = [case.name for case in all_cases()][::50]
    for name in names:
        assert 1 <= sum(in_sample(name, 5, seed) for seed in range(100)) <= 50
    assert 0 < sum(in_sample(name, 5, 0) for name in names) < len(names)
