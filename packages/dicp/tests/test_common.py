"""The test of an operator in DICP's documentation, retyped, and its helpers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dl_dicp.testing.common import compile_model, parse_args

DOCUMENTED = """
import pytest
from dl_dicp.testing.common import (
    torch,
    dynamo,
    parse_args,
    compile_model,
    get_device,
    Size,
    update_dynamo_config,
)

class OpModule(torch.nn.Module):
    def forward(self, a, view_size):
        res_default = torch.ops.aten._unsafe_view.default(a, view_size)
        return res_default

model = OpModule()
args = parse_args()
compiled_model = compile_model(model, args.backend, args.dynamic)

class TestUnsafeView():
    @pytest.mark.parametrize("dtype", [torch.float32])
    @pytest.mark.parametrize(
        "sizes", [Size((5,), (5, 3)), Size((3, 5), (5, 3)), Size((2, 3, 4), (2, 4))]
    )
    @pytest.mark.parametrize("compiled_model", compiled_model)
    def test_torch__unsafe_view(self, sizes, dtype, compiled_model):
        device = get_device()
        size = sizes.dynamic if compiled_model.dynamic else sizes.static
        input1 = torch.randn(size, dtype=dtype)

        dicp_input1 = input1.to(device)
        view_size = tuple(reversed(size))

        output = model(input1, view_size)
        dynamo.reset()
        update_dynamo_config(compiled_model.dynamic)
        dicp_output = compiled_model.model(dicp_input1, view_size)

        assert torch.allclose(output, dicp_output.cpu(), equal_nan=True)
"""


@pytest.mark.parametrize("backend", ["dl", "contract"])
def test_the_documented_test_runs(backend: str, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from dl_dicp.testing.common import pytest_addoption  # noqa: F401\n"
    )
    (tmp_path / "test__unsafe_view.py").write_text(DOCUMENTED)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--backend", backend, "--dynamic", "all"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and "6 passed" in done.stdout, done.stdout + done.stderr


def test_options_of_the_command_line() -> None:
    given = parse_args(["-q", "--backend", "tiled", "--dynamic", "all", "test_add.py"])
    assert (given.backend, given.dynamic) == ("tiled", "all")
    both = compile_model(torch.nn.ReLU(), given.backend, given.dynamic)
    assert [each.dynamic for each in both] == [False, True]
    assert [each.dynamic for each in compile_model(torch.nn.ReLU(), "dl", True)] == [True]


def test_unknown_backends_and_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown backend 'nowhere'; available: dl, ascendgraph"):
        compile_model(torch.nn.ReLU(), "nowhere")
    with pytest.raises(ValueError, match="dynamic='some' is not one of false, true, all"):
        compile_model(torch.nn.ReLU(), "dl", "some")
