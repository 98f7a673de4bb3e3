"""References are found by family, and their outputs must match the schema."""

from __future__ import annotations

import numpy as np
import pytest

from dl_conformance import reference as references
from dl_conformance.reference import BadReferenceError, compute, family_of_module, reference


def test_unknown_operator_is_named() -> None:
    with pytest.raises(BadReferenceError, match=r"\[diopiNope\] is not an operator"):
        reference("diopiNope")(dict)


def test_wrong_set_of_outputs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "find", lambda name: lambda **arguments: {"result": 1})
    with pytest.raises(BadReferenceError, match=r"missing \['out'\], unknown \['result'\]"):
        compute("diopiAdd", {"input": np.zeros(2)}, {"out"})


def test_missing_reference_names_the_file_to_add_it_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "find", lambda name: None)
    with pytest.raises(BadReferenceError, match=r"add one to references/arithmetic\.py"):
        compute("diopiAdd", {}, {"out"})


def test_module_belongs_to_the_longest_family_its_name_begins_with() -> None:
    assert family_of_module("max_pooling_volumes") == "max_pooling"
    assert family_of_module("pooling") == "pooling"
    assert family_of_module("nothing_such") is None


def test_every_module_belongs_to_a_family() -> None:
    assert [x for x in references.modules() if family_of_module(x) is None] == []
