"""Groups of calls that run block by block: the same results, less memory, and reports."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from diopi_proto.host import Vendor, load_vendor
from dl_core import _C
from dl_core.cli import main
from dl_dicp import compiled, statistics
from dl_graph import ContractGraph, EntryBuilder, GraphBuilder, Session, Value

ROWS, COLUMNS = 640, 512
"""Shape of tensors of 1.25 MiB, of which a few exceed the cache."""

LIGHT = ("Add", "Mul", "Sub", "Maximum", "Relu", "Neg", "Abs")


@pytest.fixture(scope="module")
def vendor() -> Vendor:
    torch.empty(0, device="dl")
    return load_vendor(_C.device_info(0)["library"])


@pytest.fixture
def serves() -> bool:
    """Return True if the device computes in host memory."""
    torch.empty(0, device="dl")
    known = _C.device_info(0)
    return bool(known["host_accessible"] and known["synchronous"])


def check_blocks(graph: ContractGraph, given: dict[str, Any], vendor: Vendor) -> None:
    """Check that outputs and mutated inputs are the same block by block and whole."""
    found = []
    for how in ({"whole": True}, {"blocks": True}, {}):
        arrays = {name: array.copy() for name, array in given.items()}
        with Session(graph, vendor, poison=True, **how) as session:
            for _ in range(2):
                outputs = session.run("main", arrays, {})
        found.append([*outputs.values(), *arrays.values()])
    for other in found[1:]:
        for wanted, actual in zip(found[0], other, strict=True):
            assert np.allclose(actual, wanted, rtol=1e-5, atol=1e-5, equal_nan=True)


def random_graph(seed: int) -> tuple[ContractGraph, dict[str, Any]]:
    """Return a random graph of elementwise operators, softmax and sums over one iteration space,
    with sliced, transposed and broadcast tensors, new results and in-place writes."""
    random = np.random.default_rng(seed)
    builder = GraphBuilder()
    entry = builder.entry("main")
    shape = [(4, 6, 16), (12, 12), (5, 5, 4, 8), (7,)][seed % 4]
    given = {f"x{i}": random.uniform(0.1, 0.9, shape).astype("float32") for i in range(3)}
    given["row"] = random.uniform(0.1, 0.9, shape[-1:]).astype("float32")
    values = [entry.input(name, array.shape, "float32") for name, array in given.items()]
    full = values[:3]
    for _ in range(12):
        a, b = (full[random.integers(len(full))] for _ in range(2))
        add_call(entry, random, full, a, values[3] if random.random() < 0.2 else b)
    for place in random.choice(len(full), 2, replace=False):
        out = entry.empty(shape, "float32")
        entry.call("Neg", out, full[place])
        entry.output(f"y{place}", out)
    return builder.build(), given


def add_call(
    entry: EntryBuilder, random: np.random.Generator, full: list[Value], a: Value, b: Value
) -> None:
    kind = random.integers(9)
    shape = full[0].shape
    if kind == 0:
        entry.call("MulInp", full[0], full[1 + random.integers(2)])
    elif kind == 1 and len(shape) > 1:
        sums = entry.empty([*shape[:-1], 1], "float32")
        entry.call("Amax", sums, a, [-1], True)
        out = entry.empty(shape, "float32")
        entry.call("Sub", out, a, sums, 1)
        full.append(out)
    elif kind == 2 and len(shape) > 1:
        out = entry.empty(shape, "float32")
        entry.call("Softmax", out, a, int(random.integers(len(shape))))
        full.append(out)
    elif kind == 3 and shape[-1] % 2 == 0:
        half = shape[-1] // 2
        out = entry.empty(shape, "float32")
        entry.call("Neg", out.narrow(-1, 0, half), a.narrow(-1, half, half))
        entry.call("Abs", out.narrow(-1, half, half), a.narrow(-1, 0, half))
        full.append(out)
    elif kind == 4 and len(shape) > 1 and shape[0] == shape[1]:
        out = entry.empty(shape, "float32")
        entry.call("Relu", out, a.transpose(0, 1))
        full.append(out)
    elif kind == 5:
        out = entry.empty(shape, "float32")
        entry.call("Add", out, full[-1].narrow(0, int(random.integers(shape[0])), 1), b, 1)
        full.append(out)
    else:
        out = entry.empty(shape, "float32")
        name = LIGHT[random.integers(len(LIGHT))]
        second = [] if name in ("Relu", "Neg", "Abs") else [b]
        entry.call(name, out, a, *second, *([1] if name in ("Add", "Sub") else []))
        full.append(out)


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed: int, vendor: Vendor) -> None:
    check_blocks(*random_graph(seed), vendor)


def chain_graph() -> ContractGraph:
    builder = GraphBuilder()
    entry = builder.entry("main")
    x, y = (entry.input(name, [ROWS, COLUMNS], "float32") for name in "xy")
    value = x
    for name in ("Mul", "Sub", "Mul", "Add"):
        made = entry.empty([ROWS, COLUMNS], "float32")
        entry.call(name, made, value, y, *([1] if name in ("Add", "Sub") else []))
        value = made
    entry.output("out", value)
    return builder.build()


def test_temporaries_of_a_group_take_no_memory_of_the_plan() -> None:
    graph = chain_graph()
    tiling = graph.tiling("main", cache=1 << 20)
    assert tiling.groups == (range(4),)
    assert tiling.blocks[0] > 2
    assert tiling.bytes == 0
    assert graph.plan("main").bytes > ROWS * COLUMNS


def test_small_tensors_run_whole() -> None:
    tiling = chain_graph().tiling("main", cache=1 << 26)
    assert not tiling.groups
    assert set(tiling.reasons.values()) == {
        "the tensors of its group fit into the cache as they are"
    }


def test_rows_that_run_across_memory_run_whole() -> None:
    """Each element of a column is on its own cache line, which the next block reads again."""

    def reasons(*, turned: bool) -> set[str]:
        builder = GraphBuilder()
        entry = builder.entry("main")
        made = entry.input("x", [1024, 1024], "float32")
        for _ in range(4):
            out = entry.empty([1024, 1024], "float32")
            pair = [each.transpose(0, 1) if turned else each for each in (out, made)]
            entry.call("Neg", *pair)
            made = out
        entry.output("y", made)
        return set(builder.build().tiling("main", cache=1 << 20).reasons.values())

    assert reasons(turned=False) == set()
    assert reasons(turned=True) == {"the elements of its rows are not contiguous in a tensor"}


def test_inputs_that_share_memory_run_whole(vendor: Vendor) -> None:
    builder = GraphBuilder()
    entry = builder.entry("main")
    x, y = (entry.input(name, [64], "float32") for name in "xy")
    out = entry.empty([64], "float32")
    entry.call("AddInp", x, y, 1)
    entry.call("Mul", out, y, y)
    entry.output("out", out)
    graph = builder.build()
    wanted, found = (np.arange(96, dtype="float32") for _ in range(2))
    for memory, how in ((wanted, {"whole": True}), (found, {"blocks": True})):
        with Session(graph, vendor, **how) as session:
            got = session.run("main", {"x": memory[:64], "y": memory[32:]}, {})
        memory[:32] += got["out"][:32]
    assert np.array_equal(wanted, found)


def test_the_failing_call_of_a_block_is_named(vendor: Vendor) -> None:
    builder = GraphBuilder()
    entry = builder.entry("main")
    x = entry.input("x", [6, 4], "float32")
    out, last = (entry.empty([6, 4], "float32") for _ in range(2))
    entry.call("Neg", out, x)
    entry.call("Softmax", last, out, 7)
    entry.output("out", last)
    with (
        Session(builder.build(), vendor, blocks=True) as session,
        pytest.raises(Exception, match=r"call 1 \(diopiSoftmax\)"),
    ):
        session.run("main", {"x": np.ones((6, 4), "float32")}, {})


def light(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(((x * y + 0.5) * x - y) * x + y)


def normed(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x + y, x.shape[-1:]) + y


@pytest.mark.parametrize("function", [light, normed])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_engines_give_the_same(
    function: Callable[..., torch.Tensor], dtype: torch.dtype, serves: bool
) -> None:
    x, y = (torch.randn(4, ROWS, COLUMNS).to("dl", dtype) for _ in range(2))
    made = []
    for engine in ("contract", "tiled"):
        torch._dynamo.reset()
        statistics.reset()
        # Patterns round differently from the calls that they replace.
        options: dict[str, Any] = {"engine": engine, "patterns": False}
        run = torch.compile(function, backend="dl", options=options)
        made.append([run(x, y).cpu() for _ in range(2)][-1])
        grouped = engine == "tiled" and serves and dtype == torch.float32
        assert (statistics.tiled_calls > 0) == grouped
        assert not statistics.eager
    assert torch.equal(*made)
    assert torch.equal(made[0], function(x, y).cpu())


def test_threads_share_the_blocks_of_a_program(serves: bool) -> None:
    run = torch.compile(light, backend="dl")
    inputs = [torch.full((4, ROWS, COLUMNS), float(i), device="dl") for i in range(1, 4)]
    run(inputs[0], inputs[0])
    wanted = [light(x, x).cpu() for x in inputs]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(4):
            if not torch.equal(run(inputs[number], inputs[number]).cpu(), wanted[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert (statistics.tiled_calls > 0) == serves


def test_an_engine_that_is_none_is_refused() -> None:
    with pytest.raises(Exception, match=r"must be one of .*, not 'magic'"):
        torch.compile(light, backend="dl", options={"engine": "magic"})(
            *(torch.ones(3, device="dl") for _ in range(2))
        )


def test_explain_tells_what_is_grouped(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], serves: bool
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "run = torch.compile(lambda x, y: ((x * y - x) * y + x) @ y.T, backend='dl')\n"
        f"x, y = (torch.ones({4 * ROWS}, {COLUMNS}, device='dl') for _ in range(2))\n"
        "run(x, y)\n"
    )
    assert main(["dicp", "explain", str(program)]) == 0
    said = capsys.readouterr().out
    assert "pattern multiply-add: 1 rewritten" in said
    assert ("blocks of diopiMul, diopiSub, diopiAddcmul" in said) == serves
    assert ("whole, because it is not known to work row by row: diopi" in said) == serves
    assert compiled.all_graphs
