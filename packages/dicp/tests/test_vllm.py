"""The adapter for vLLM, with fakes of the interfaces that its releases publish."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.fx import GraphModule
from torch.fx.passes.split_module import split_module

from dl_dicp import statistics


class InterfaceOfARuntimeShape:
    """Interface of earlier releases."""

    name: str

    def initialize_cache(
        self, cache_dir: str, disable_cache: bool = False, prefix: str = ""
    ) -> None: ...

    def compute_hash(self, vllm_config: Any) -> str:
        return ""

    def compile(
        self,
        graph: GraphModule,
        example_inputs: list[Any],
        compiler_config: dict[str, Any],
        runtime_shape: int | None = None,
        key: str | None = None,
    ) -> tuple[Callable[..., Any] | None, Any | None]:
        return None, None

    def load(
        self,
        handle: Any,
        graph: GraphModule,
        example_inputs: list[Any],
        graph_index: int,
        runtime_shape: int | None = None,
    ) -> Callable[..., Any]:
        raise NotImplementedError("caching is not supported")


class InterfaceOfARange(InterfaceOfARuntimeShape):
    """Interface of later releases."""

    def compile(  # type: ignore[override]
        self,
        graph: GraphModule,
        example_inputs: list[Any],
        compiler_config: dict[str, Any],
        compile_range: tuple[int, int],
        key: str | None = None,
    ) -> tuple[Callable[..., Any] | None, Any | None]:
        return None, None


INTERFACES = (InterfaceOfARuntimeShape, InterfaceOfARange)


@pytest.fixture(params=INTERFACES, ids=lambda interface: interface.__name__)
def compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Create an instance as vLLM does, from the name of the class."""
    module = types.ModuleType("vllm.compilation.compiler_interface")
    module.CompilerInterface = request.param  # type: ignore[attr-defined]
    for name in ("vllm", "vllm.compilation"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, "dl_dicp.vllm", raising=False)
    yield importlib.import_module("dl_dicp.vllm").DlCompiler()
    sys.modules.pop("dl_dicp.vllm", None)


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda interface: interface.__name__)
def test_it_takes_what_is_published(compiler: Any, interface: type) -> None:
    for name, method in inspect.getmembers(interface, inspect.isfunction):
        parameters = list(inspect.signature(method).parameters.values())[1:]
        by_place = [object()] * len(parameters)
        inspect.signature(getattr(compiler, name)).bind(*by_place)
        if name == "compile":
            by_name = {p.name: object() for p in parameters}
            inspect.signature(compiler.compile).bind(**by_name)


def model(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    x = torch.nn.functional.silu(x @ w)
    x = torch.sin(x)  # the graph is split here
    return (x @ w).softmax(-1)


def in_parts(compiler: Any, compiled: list[Any], **config: Any) -> Callable[..., Any]:
    """Return a backend that splits a graph at its sine, as vLLM does at attention, and compiles the
    other parts for any number of tokens."""

    def backend(graph: GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        nodes = list(graph.graph.nodes)
        cut = next(i for i, node in enumerate(nodes) if node.target is torch.sin)
        place = {node: (i >= cut) + (i > cut) for i, node in enumerate(nodes)}
        parts = split_module(graph, graph, place.__getitem__, keep_original_order=True)

        class Compile(torch.fx.Interpreter):
            def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
                part = self.fetch_attr(target)
                if "1" not in target:
                    made, handle = compiler.compile(part, list(args), config, None, key=target)
                    assert handle is None
                    compiled.append(made)
                    setattr(parts, target, Called(made))
                return part(*args, **kwargs)

        mode = torch._guards.detect_fake_mode(inputs)
        assert mode is not None
        with mode:
            Compile(parts).run(
                *(mode.from_tensor(x) if isinstance(x, torch.Tensor) else x for x in inputs)
            )
        parts.recompile()
        return parts

    return backend


class Called(torch.nn.Module):
    def __init__(self, call: Callable[..., Any]) -> None:
        super().__init__()
        self.call = call

    def forward(self, *arguments: Any) -> Any:
        return self.call(*arguments)


def test_parts_run_as_contract_graphs_at_all_numbers_of_tokens(compiler: Any) -> None:
    made: list[Any] = []
    compiled = torch.compile(model, backend=in_parts(compiler, made), dynamic=False)
    w = torch.randn(16, 16).to("dl")
    torch._dynamo.mark_dynamic(x := torch.randn(5, 16).to("dl"), 0)
    with torch.no_grad():
        compiled(x, w)
        for tokens in (5, 9, 33):
            x = torch.randn(tokens, 16).to("dl")
            torch._dynamo.mark_dynamic(x, 0)
            torch.testing.assert_close(compiled(x, w).cpu(), model(x, w).cpu())
    assert len(made) == 2
    seen = statistics.snapshot()
    assert seen.graphs >= 4, "the parts ran eagerly"
    assert not seen.eager


def test_a_part_for_one_number_of_tokens(compiler: Any) -> None:
    """vLLM compiles such a part while the model runs, with real arguments."""
    graph = torch.fx.symbolic_trace(lambda x, w: torch.tanh(x @ w))
    x, w = torch.randn(4, 8).to("dl"), torch.randn(8, 8).to("dl")
    call, _ = compiler.compile(graph, [x, w], {}, 4)
    with torch.no_grad():
        call(x, w)
        result = call(x, w)
    assert isinstance(result, torch.Tensor)
    torch.testing.assert_close(result.cpu(), torch.tanh(x.cpu() @ w.cpu()))
    assert statistics.snapshot().graphs
    assert "tanh" in graph.code
    assert "return (tanh,)" not in graph.code, "vLLM's own graph was changed"


def test_options_are_read_under_the_key_dl(compiler: Any) -> None:
    graph = torch.fx.symbolic_trace(lambda x: (torch.tanh(x),))
    x = torch.randn(4).to("dl")
    call, _ = compiler.compile(graph, [x], {"max_autotune": True, "dl": {"patterns": False}}, 4)
    assert isinstance(call(x), (tuple, list))
    with pytest.raises(ValueError, match="unknown options colour"):
        compiler.compile(graph, [x], {"dl": {"colour": "red"}}, 4)


def test_another_number_of_inputs_is_refused(compiler: Any) -> None:
    graph = torch.fx.symbolic_trace(lambda x, y: (x + y,))
    x = torch.randn(4).to("dl")
    for given in ([x], [x, x, x]):
        with pytest.raises(ValueError, match=f"takes 2 inputs, not {len(given)}"):
            compiler.compile(graph, given, {}, 4)
    call, _ = compiler.compile(graph, [x, x], {}, 4)
    for given in ([x], [x, x, x]):
        with pytest.raises(TypeError, match=f"takes 2 inputs, not {len(given)}"):
            call(*given)


def test_nothing_is_kept_on_disk(compiler: Any, tmp_path: Any) -> None:
    compiler.initialize_cache(str(tmp_path), prefix="backbone")
    assert not list(tmp_path.iterdir())
    assert len(compiler.compute_hash(None)) == 10
    with pytest.raises(NotImplementedError):
        compiler.load(None, None, [], 0, None)
