"""torch.compile: the supported backends work on dl, and the default's error names them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from core.processes import output


def double(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + 1)


# Deprecation warnings of torch's own modules that Inductor imports.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    torch._dynamo.reset()


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "dl"])
def test_a_backend_that_runs_the_graph(backend: str) -> None:
    x = torch.randn(4, 4, device="dl", requires_grad=True)
    compiled = torch.compile(double, backend=backend, fullgraph=True)
    compiled(x).sum().backward()
    assert torch.equal(compiled(x), double(x))
    assert x.grad is not None and x.grad.device.type == "dl"


QUERIES: dict[str, Callable[[], float]] = {
    "current_device": lambda: torch.dl.current_device(),
    "current_device of the module": lambda: torch.get_device_module("dl").current_device(),
    "device_count": lambda: torch.dl.device_count(),
    "is_available": lambda: torch.dl.is_available(),
    "is_initialized": lambda: torch.dl.is_initialized(),
    "is_bf16_supported": lambda: torch.dl.is_bf16_supported(),
    "get_device_properties": lambda: torch.dl.get_device_properties(0).multi_processor_count,
    "get_device_name": lambda: len(torch.dl.get_device_name()),
    "get_device_capability": lambda: torch.dl.get_device_capability()[0],
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries_of_devices_are_constants_of_a_graph(name: str) -> None:
    compiled = torch.compile(lambda x: x * QUERIES[name](), backend="eager", fullgraph=True)
    x = torch.ones(2, device="dl")
    assert compiled(x).tolist() == [QUERIES[name]()] * 2


def test_a_graph_is_for_the_current_device() -> None:
    compiled = torch.compile(
        lambda x: x + torch.dl.current_device(), backend="eager", fullgraph=True
    )
    x = torch.zeros(1)
    for index in (*range(torch.dl.device_count()), 0):
        with torch.dl.device(index):
            assert compiled(x).item() == index


def test_the_default_backend_compiles_with_dl_dicp() -> None:
    from dl_dicp import statistics

    before = statistics.snapshot().compiled
    assert torch.compile(double)(torch.ones(1, device="dl")).item() == 3
    assert statistics.snapshot().compiled == before + 1


def test_a_direct_call_of_inductor_names_what_works() -> None:
    from torch._inductor import compile_fx

    said = r"\[torch.compile\] Inductor cannot generate code for dl .*backend=\"aot_eager\""
    for _ in range(2):  # the error persists
        compiled = torch.compile(double, backend=compile_fx.compile_fx)
        with pytest.raises(RuntimeError, match=said):
            compiled(torch.ones(4, device="dl"))


@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")
def test_packages_of_aot_inductor_are_refused_alike(tmp_path: Path) -> None:
    class Doubled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return double(x)

    program = torch.export.export(Doubled(), (torch.ones(2, device="dl"),))
    with pytest.raises(RuntimeError, match=r"Inductor.* cannot generate code for dl"):
        torch._inductor.aoti_compile_and_package(program, package_path=str(tmp_path / "model.pt2"))
    assert program.module()(torch.ones(2, device="dl")).tolist() == [3.0, 3.0]


def test_importing_torch_imports_no_compiler() -> None:
    code = """
        import sys, torch
        assert torch.dl.is_available()
        print([name for name in ("torch._dynamo", "torch._inductor") if name in sys.modules])
    """
    assert output(code) == "[]"
