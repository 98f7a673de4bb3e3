"""Lookup of operators by name."""

from __future__ import annotations

import pytest
import torch

from dl_optools.names import Level
from dl_optools.operators import UnknownOperatorError, is_known, operator


def test_functions_and_overloads_are_found_by_name() -> None:
    found = operator("torch.nn.functional.linear", Level.API)
    assert found is torch.nn.functional.linear
    assert operator("torch.mm", Level.API) == torch.mm
    assert operator("torch.Tensor.add", Level.API) is torch.Tensor.add
    assert operator("aten.add.Tensor", Level.DISPATCH) is torch.ops.aten.add.Tensor
    assert operator("aten.relu.default", Level.DISPATCH) is torch.ops.aten.relu.default


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "torch.load",
        "torch.save",
        "torch.hub.load",
        "torch.from_file",
        "torch.ops.load_library",
        "torch.utils.cpp_extension.load_inline",
        "torch.Tensor.apply_",
        "torch.Tensor.map_",
        "torch.Tensor.numpy",
        "torch.Tensor.__reduce_ex__",
        "torch.Tensor.__setstate__",
        "torch.Tensor.register_hook",
        "torch.Tensor.grad.__get__",
        "torch.Tensor.share_memory_",
        "torch.Tensor.no_such_method",
        "",
    ],
)
def test_other_functions_of_the_api_are_refused(name: str) -> None:
    with pytest.raises(UnknownOperatorError, match="not an operator"):
        operator(name, Level.API)


@pytest.mark.parametrize(
    "name",
    [
        "aten.from_file.default",
        "aten.save.default",
        "aten._print.default",
        "aten.add",
        "aten.add.NoSuch",
        "aten.__class__.default",
        "c10d.send.default",
        "profiler._record_function_enter.default",
        "no_such_namespace.add.Tensor",
        "os.system.default",
        "aten.add.Tensor.__class__",
        "aten.add.Tensor ",
    ],
)
def test_other_overloads_are_refused(name: str) -> None:
    assert not is_known(name, Level.DISPATCH)


def test_names_are_python_paths_to_their_functions() -> None:
    """Exported scripts refer to operators by their names."""
    from dl_optools.operators import _functions

    for name, function in _functions().items():
        found = torch
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        assert found == function, name
