"""The example of DICP's documentation, retyped, on the vendor that is installed."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from dl_dicp import dicp_backends

DOCUMENTED = """
import torch

def foo(a, b, c):
    res = torch.ops.aten.addmm.default(a, b, c)
    return res

device = "dl:0"
backend = {backend!r}
dynamic = False
compiled_foo = torch.compile(foo, backend=backend, dynamic=dynamic)

dicp_input1 = torch.randn(size=(5, 3), dtype=torch.float32).to(device)
dicp_input2 = torch.randn(size=(5, 2), dtype=torch.float32).to(device)
dicp_input3 = torch.randn(size=(2, 3), dtype=torch.float32).to(device)
for _ in range(2):
    dicp_output = compiled_foo(dicp_input1, dicp_input2, dicp_input3)
    output = foo(dicp_input1.cpu(), dicp_input2.cpu(), dicp_input3.cpu())
    assert torch.allclose(output, dicp_output.cpu(), equal_nan=True)
    torch.compile(lambda x: x * 2, backend=backend)(dicp_input1)

from dl_dicp import statistics
print(statistics.graphs)
"""


@pytest.mark.parametrize("backend", ["ascendgraph", "topsgraph"])
def test_the_documented_example_runs_compiled(backend: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DOCUMENTED.format(backend=backend)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    vendor = torch.dl.get_device_properties(0).vendor
    line = f"dl-dicp: backend {backend!r} is backend 'dl' here, on vendor {vendor!r}\n"
    assert done.stderr.count(line) == 1


def test_graphs_are_captured_on_the_vendor_of_the_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[dict[str, Any]] = []

    def compile_graph(module: Any, inputs: Any, *, options: Any, mode: Any) -> Any:
        seen.append(options)
        return module

    monkeypatch.setattr(dicp_backends, "dl", compile_graph)
    monkeypatch.setattr(dicp_backends._C, "device_info", lambda index: {"vendor": "ascend"})
    module: Any = torch.nn.Identity()
    dicp_backends.ascendgraph(module, [])
    dicp_backends.ascendgraph(module, [], options={"engine": "tiled", "check": False})
    dicp_backends.topsgraph(module, [])
    assert seen == [{"engine": "capture"}, {"engine": "tiled", "check": False}, {}]
    assert "'ascend', engine 'capture'" in capsys.readouterr().err
