"""``torch.compile`` without a backend: graphs of dl tensors are compiled by dl-dicp."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from dicp_models import MODELS, on_dl
from dl_dicp import statistics
from dl_dicp.compiled import all_graphs

# Deprecation warnings of torch's own modules that Inductor imports.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script_method`:DeprecationWarning")


def scale(x: Tensor) -> Tensor:
    return torch.relu(x * 2 + 1)


def engines() -> set[str]:
    """Return the engines of all compiled graphs."""
    return {graph.options.engine for graph in all_graphs}


def programs() -> list[str]:
    """Return the canonical texts of all contract graphs, in the order of their compilation."""
    graphs = sorted(all_graphs, key=lambda graph: graph.number)
    made = [v.program for graph in graphs for v in graph.variants if v.program is not None]
    return [region.text for program in made for region in program.regions]


CACHED = ("llama", True)
"""A model that is not trained: steps would go back through earlier steps by its cache."""

WAYS: dict[str, Callable[..., Any]] = {
    "plain": torch.compile,
    "decorator": lambda function: torch.compile()(function),
    "decorator with options": lambda function: torch.compile(fullgraph=True)(function),
    "named": lambda function: torch.compile(function, backend="inductor"),
    "fullgraph": lambda function: torch.compile(function, fullgraph=True),
    "dynamic": lambda function: torch.compile(function, dynamic=True),
    "reduce-overhead": lambda function: torch.compile(function, mode="reduce-overhead"),
    "max-autotune": lambda function: torch.compile(function, mode="max-autotune"),
    "without graphs": lambda function: torch.compile(function, mode="max-autotune-no-cudagraphs"),
    "options of Inductor": lambda f: torch.compile(f, options={"epilogue_fusion": True}),
}


@pytest.mark.parametrize("name", WAYS)
def test_each_way_to_compile_runs_contract_graphs(name: str) -> None:
    compiled = WAYS[name](scale)
    for size in (4, 4, 6):
        x = torch.randn(size, device="dl")
        assert torch.equal(compiled(x), scale(x))
    assert statistics.graphs >= 1
    assert not statistics.eager


def test_a_module_compiles_itself() -> None:
    model, inputs = on_dl("encoder")
    wanted = model(*inputs)
    model.compile()
    assert torch.equal(model(*inputs), wanted)
    assert statistics.compiled == 1


@pytest.mark.parametrize(
    ("name", "trains"),
    [(name, trains) for name in MODELS for trains in (False, True) if (name, trains) != CACHED],
)
def test_both_backends_compile_the_same_programs(name: str, trains: bool) -> None:
    found = []
    for how in ({}, {"backend": "dl"}):
        torch._dynamo.reset()
        all_graphs.clear()
        model, inputs = on_dl(name)
        compiled = torch.compile(model.train(trains), **how)
        with torch.set_grad_enabled(trains):
            for _ in range(2):
                result = compiled(*inputs)
                if trains:
                    result.square().mean().backward()
        found.append(programs())
    assert len(found[0]) >= 1 + trains
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("mode", "engine"),
    [
        (None, "tiled"),
        ("default", "tiled"),
        ("reduce-overhead", "tiled"),
        ("max-autotune", "codegen"),
        ("max-autotune-no-cudagraphs", "codegen"),
    ],
)
@pytest.mark.parametrize("backend", ["inductor", "dl"])
def test_modes_select_engines(mode: str | None, engine: str, backend: str) -> None:
    """The vendor cpu has no graph extension, so ``reduce-overhead`` changes nothing."""
    torch.compile(scale, mode=mode, backend=backend)(torch.ones(4, device="dl"))
    assert engines() == {engine}
    assert not statistics.dropped


@pytest.mark.filterwarnings("ignore:.*cannot capture this graph:RuntimeWarning")
@pytest.mark.parametrize("mode", ["reduce-overhead", "max-autotune"])
def test_modes_with_device_graphs_capture_if_the_vendor_can(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dl_dicp.engines.device_graph.recording.why_not", lambda device: "")
    torch.compile(scale, mode=mode)(torch.ones(4, device="dl"))
    assert engines() == {"capture"}


def test_an_option_overrides_a_setting() -> None:
    with torch._inductor.config.patch(max_autotune=True):
        torch.compile(scale)(torch.ones(4, device="dl"))
        assert engines() == {"codegen"}
        torch._dynamo.reset()
        all_graphs.clear()
        torch.compile(scale, options={"engine": "contract"})(torch.ones(4, device="dl"))
    assert engines() == {"contract"}


def test_options_of_both_compilers_are_accepted() -> None:
    options = {"engine": "contract", "check": False, "freezing": True}
    compiled = torch.compile(scale, options=options)
    compiled(torch.ones(4, device="dl"))
    (graph,) = all_graphs
    assert (graph.options.engine, graph.options.check, graph.options.frozen) == (
        "contract",
        False,
        True,
    )


def test_calls_with_other_options_do_not_share_code() -> None:
    x = torch.ones(4, device="dl")
    torch.compile(scale)(x)
    torch.compile(scale, options={"engine": "contract"})(x)
    assert engines() == {"tiled", "contract"}


def test_unknown_options_are_errors() -> None:
    with pytest.raises(RuntimeError, match="Unexpected optimization option enigne"):
        torch.compile(scale, options={"enigne": "contract"})
    compiled = torch.compile(scale, options={"engine": "steam"})
    with pytest.raises(RuntimeError, match=r"the option engine must be one of .*not 'steam'"):
        compiled(torch.ones(4, device="dl"))
    with pytest.raises(RuntimeError, match="Unrecognized mode"):
        torch.compile(scale, mode="fastest")
    with pytest.raises(RuntimeError, match=r"\[dl\] mode must be one of default, .*not 'fastest'"):
        torch.compile(scale, mode="fastest", backend="dl")(torch.ones(4, device="dl"))


def test_graphs_of_other_devices_go_to_inductor(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import compile_fx

    seen = []

    def record(module: Any, inputs: Any, config_patches: Any = None, **_: Any) -> Any:
        seen.append(config_patches)
        return module.forward

    monkeypatch.setattr(compile_fx, "compile_fx", record)
    compiled = torch.compile(scale, options={"engine": "contract", "max_autotune": True})
    assert compiled(torch.ones(2)).tolist() == [3.0, 3.0]
    assert seen == [{"max_autotune": True}]
    assert statistics.compiled == 0
    # The same function, called with dl tensors.
    assert compiled(torch.ones(2, device="dl")).tolist() == [3.0, 3.0]
    assert len(seen) == 1
    assert engines() == {"contract"}


def test_a_graph_without_inputs_is_recognized_by_its_results() -> None:
    compiled = torch.compile(lambda: torch.arange(3.0, device="dl") * 2)
    for _ in range(2):
        assert compiled().tolist() == [0.0, 2.0, 4.0]
    assert engines() == {"tiled"}


def test_a_graph_of_two_devices_computes_on_both() -> None:
    def function(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return scale(x) + y.sin().to("dl"), y.exp()

    compiled = torch.compile(function)
    for _ in range(3):
        x, y = torch.randn(4, device="dl"), torch.randn(4)
        for one, other in zip(compiled(x, y), function(x, y), strict=True):
            assert one.device == other.device
            torch.testing.assert_close(one, other)
    assert statistics.compiled == 1


def test_without_dl_dicp_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._dynamo.backends import registry

    registry.list_backends()
    for table in (registry._BACKENDS, registry._COMPILER_FNS):
        monkeypatch.delitem(table, "dl", raising=False)
    with pytest.raises(RuntimeError, match=r"pip install dl-dicp.*backend=\"aot_eager\""):
        torch.compile(scale)(torch.ones(4, device="dl"))
    with pytest.raises(RuntimeError, match="Unexpected optimization option engine"):
        torch.compile(scale, options={"engine": "contract"})
    assert torch.compile(scale, backend="aot_eager")(torch.ones(1, device="dl")).item() == 3


def test_the_list_of_backends_is_unchanged() -> None:
    found = torch._dynamo.list_backends()
    assert "inductor" in found
    assert "dl" in found
    assert torch._TorchCompileInductorWrapper("default", None, None).compiler_name == "inductor"


def test_graph_breaks_and_other_sizes_compile_again() -> None:
    def function(x: Tensor) -> Tensor:
        x = scale(x)
        torch._dynamo.graph_break()
        return x.sum(-1) + x.shape[0]

    compiled = torch.compile(function)
    for shape in ((2, 3), (4, 3), (5, 7), (1, 3)):
        x = torch.randn(shape, device="dl")
        torch.testing.assert_close(compiled(x), function(x))
    assert not statistics.eager


def test_inference_mode_and_autocast_have_programs_of_their_own() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU()).to("dl")
    compiled = torch.compile(model)
    x = torch.randn(4, 8, device="dl")
    for context in (torch.no_grad, torch.inference_mode, lambda: torch.autocast("dl")):
        for _ in range(2):
            with context():
                torch.testing.assert_close(compiled(x), model(x))
    assert not statistics.eager


def test_compiled_modules_are_copied_and_pickled() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).to("dl")
    x = torch.randn(2, 4, device="dl")
    compiled = torch.compile(model, options={"engine": "contract"})
    wanted = compiled(x)
    assert torch.equal(copy.deepcopy(compiled)(x), wanted)
    model.compile()
    assert torch.equal(pickle.loads(pickle.dumps(model))(x), wanted)


def test_an_error_in_a_compiled_call_leaves_it_usable() -> None:
    compiled = torch.compile(lambda x, y: scale(x) @ y)
    x, y = torch.randn(3, 4, device="dl"), torch.randn(4, 2, device="dl")
    for _ in range(2):
        with pytest.raises(RuntimeError):
            compiled(x, x)
        torch.testing.assert_close(compiled(x, y), scale(x) @ y)


def test_threads_share_compiled_code() -> None:
    compiled = torch.compile(scale)
    x = torch.randn(64, device="dl")
    results: list[Tensor] = []
    threads = [threading.Thread(target=lambda: results.append(compiled(x))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(torch.equal(each, scale(x)) for each in results)


def test_a_compiled_function_calls_another() -> None:
    inner = torch.compile(scale)
    outer = torch.compile(lambda x: inner(x).sin())
    for _ in range(2):
        x = torch.randn(4, device="dl")
        torch.testing.assert_close(outer(x), scale(x).sin())
    assert statistics.compiled == 1


def test_dynamo_can_be_disabled() -> None:
    code = """
        import torch
        from dl_dicp import statistics
        x = torch.ones(2, device="dl")
        assert torch.compile(lambda x: x + 1)(x).tolist() == [2.0, 2.0]
        print(statistics.compiled)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, "TORCHDYNAMO_DISABLE": "1"},
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.strip() == "0"
