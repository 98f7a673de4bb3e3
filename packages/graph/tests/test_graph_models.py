"""Graphs agree with numpy on vendors, with all memory poisoned before each run."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from diopi_proto import ClosedError, OperatorNotBoundError, Vendor, load_vendor
from dl_graph import GraphBuilder, Session, load, pack, read, show
from dl_graph.errors import GraphError
from dl_graph.expression import text
from graph_models import MODELS, check_mlp, decoder, dropout, mlp, mutation, random
from graph_vendor import GRAPH_OPERATORS

Compile = Callable[..., Path]
KINDS = {
    "synchronous": (),
    "asynchronous": ("-DFIXTURE_HIDDEN=1", "-DFIXTURE_DEFERRED=1", "-DFIXTURE_CAPABILITIES=0"),
    "padded": (
        "-DFIXTURE_PADDING=72",
        "-DFIXTURE_CAPABILITIES=DL_CAP_SYNCHRONOUS|DL_CAP_HOST_ACCESSIBLE",
    ),
}
"""Macros of the fixture vendor. With padding, operators overwrite the bytes behind tensors."""


@pytest.fixture(params=KINDS)
def runner(
    request: pytest.FixtureRequest, build_vendor: Compile, copied: Callable[[Path], Path]
) -> Iterator[Vendor]:
    """Return a vendor that runs the graphs of ``graph_models.py``."""
    with load_vendor(copied(build_vendor(*GRAPH_OPERATORS, *KINDS[request.param]))) as loaded:
        yield loaded


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_computes_what_numpy_computes(name: str, runner: Vendor, tmp_path: Path) -> None:
    build_graph, check = MODELS[name]
    build_graph().build(name).save(tmp_path / "model.dlg")
    with Session(load(tmp_path / "model.dlg"), runner, poison=True) as session:
        check(session)


def test_a_session_gives_all_its_memory_back(
    runner: Vendor, live_blocks: Callable[[Path], int]
) -> None:
    before = live_blocks(runner.path)
    with Session(mlp().build(), runner) as session:
        check_mlp(session)
        assert live_blocks(runner.path) > before
    session.close()
    gc.collect()
    assert live_blocks(runner.path) - before <= 1
    with pytest.raises(GraphError, match="the session was closed"):
        session.run("forward", {"x": random(1, 8)})


def test_a_session_outlives_its_vendor_without_a_crash(runner: Vendor) -> None:
    session = Session(mlp().build(), runner)
    runner.close()
    with pytest.raises(ClosedError):
        session.run("forward", {"x": random(1, 8)})
    session.close()


def test_plans_in_the_file_are_followed(runner: Vendor) -> None:
    graph = mlp().build().with_plan("forward", batch=3).with_plan("forward", batch=64)
    plans = graph.entry("forward")["plans"]
    assert [plan["sizes"] for plan in plans] == [[3], [64]]
    assert graph.with_plan("forward", batch=3).entry("forward")["plans"][1] == plans[0]
    with Session(graph, runner, poison=True) as session:
        check_mlp(session)


def test_numbers_that_follow_from_sizes_are_quotients(runner: Vendor) -> None:
    builder = GraphBuilder()
    entry = builder.entry("scale")
    rows = entry.symbol("rows", 1, 9)
    x = entry.input("x", [rows, 4], "float32")
    out = entry.empty([rows, 4], name="out")
    entry.call("MulScalar", out, x, 0.0)
    entry.output("out", out)
    document = copy.deepcopy(builder.document())
    scalar = document["entries"]["scale"]["calls"][0][1]["other"]
    for value, wanted in ((["/", ["*", "rows", 3], 2], 1.5), (["/", 1, "rows"], None)):
        scalar["value"] = value
        graph = read(pack(document, {}), "quotient.dlg")
        assert text(value) in show(graph)
        with Session(graph, runner) as session:
            for count in (1, 3, 9):
                given = random(count, 4, seed=count)
                factor = 1 / count if wanted is None else wanted * count
                (found,) = session.run("scale", {"x": given}).values()
                np.testing.assert_allclose(found, given * factor, rtol=1e-6)


def test_two_sessions_keep_their_state_apart(runner: Vendor) -> None:
    graph = decoder().build()
    with Session(graph, runner) as one, Session(graph, runner) as other:
        one.run("prefill", {"x": random(4, 8)})
        assert one.state("keys").any()
        assert not other.state("keys").any()


def test_a_tensor_of_the_device_is_used_where_it_is(runner: Vendor) -> None:
    tensor = runner.tensor(random(3, 4))
    with Session(mutation().build(), runner) as session:
        session.run("change", {"x": tensor})
    assert (tensor.numpy() == np.maximum(random(3, 4), 0)).all()


def test_a_graph_runs_on_a_stream_of_the_caller(runner: Vendor) -> None:
    with Session(mlp().build(), runner, stream=runner.stream(), poison=True) as session:
        check_mlp(session)


def test_state_begins_as_a_constant(runner: Vendor) -> None:
    graph = GraphBuilder()
    start = graph.constant("start", np.arange(4, dtype=np.float32))
    total = graph.state("total", [4], initial=start)
    entry = graph.entry("add")
    now = entry.use(total)
    entry.call("Add", now, now, entry.input("x", [4], "float32"), 1)
    entry.output("total", now)
    with Session(graph.build(), runner) as session:
        for times in (1, 2, 3):
            got = session.run("add", {"x": np.ones(4)})["total"]
            assert list(got) == [times, times + 1, times + 2, times + 3]


@pytest.mark.parametrize(
    ("inputs", "sizes", "message"),
    [
        ({}, {}, "x missing"),
        ({"x": random(2, 8), "z": 1}, {}, "z unknown"),
        ({"x": random(2, 9)}, {}, r"input x has the shape \[2, 9\], not \[2, 8\]"),
        ({"x": random(65, 8)}, {}, "batch = 65, but the graph was made for 1 to 64"),
        ({"x": random(0, 8)}, {}, "batch = 0, but the graph was made for 1 to 64"),
        ({"x": random(8)}, {}, "it has 1 dimensions, not 2"),
        ({"x": random(2, 8)}, {"batch": 2}, "takes 0 sizes by name, not 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    runner: Vendor, inputs: dict[str, object], sizes: dict[str, int], message: str
) -> None:
    with Session(mlp().build(), runner) as session:
        with pytest.raises(GraphError, match=message):
            session.run("forward", inputs, sizes)
        check_mlp(session)


def test_a_size_that_no_input_has_must_be_passed(runner: Vendor) -> None:
    with (
        Session(decoder().build(), runner) as session,
        pytest.raises(GraphError, match="needs the size place, which is not a size of any"),
    ):
        session.run("decode", {"x": random(1, 8)})


def test_an_operator_that_the_vendor_lacks_is_named(runner: Vendor) -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    x = entry.input("x", [2], "float32")
    entry.call("ExpInp", x)
    entry.output("x", x)
    with pytest.raises(GraphError, match=r"call 0 \(diopiExpInp\): diopiExpInp is not bound"):
        Session(graph.build(), runner)


def test_an_operator_with_another_signature_is_named(
    build_vendor: Compile, copied: Callable[[Path], Path]
) -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    x = entry.empty([2])
    entry.call("Fill", x, 1.0)
    entry.output("x", x)
    library = copied(build_vendor("-DFIXTURE_FINGERPRINT=1"))
    with load_vendor(library) as vendor, pytest.raises(OperatorNotBoundError, match="diopiFill"):
        Session(graph.build(), vendor)


def test_an_operator_that_fails_is_named_with_its_reason(runner: Vendor) -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    x = entry.input("x", [2, 3], "float32")
    out = entry.empty([2, 3], name="out")
    entry.call("Softmax", out, x, 0)
    entry.output("out", out)
    with (
        Session(graph.build("model.dlg"), runner) as session,
        pytest.raises(GraphError, match=r"model\.dlg: entry forward, call 0 .*only over the last"),
    ):
        session.run("forward", {"x": random(2, 3)})


def test_an_unknown_generator_or_state_is_refused(runner: Vendor) -> None:
    with Session(dropout().build(), runner) as session:
        with pytest.raises(GraphError, match="no generator 'other'"):
            session.seed("other", 1)
        with pytest.raises(GraphError, match="no state 'other'"):
            session.state("other")


def test_data_errors_of_asynchronous_work_are_reported_by_the_run_that_waits(
    build_vendor: Compile, copied: Callable[[Path], Path]
) -> None:
    graph = GraphBuilder()
    entry = graph.entry("pick")
    x, index = entry.input("x", [5], "float32"), entry.input("index", [2], "int64")
    picked = entry.empty([2], name="picked")
    entry.call("IndexSelect", picked, x, 0, index)
    entry.output("picked", picked)
    library = copied(build_vendor(*KINDS["asynchronous"]))
    with load_vendor(library) as vendor, Session(graph.build(), vendor) as session:
        for _ in range(2):  # an error is reported once, and the next run works
            with pytest.raises(GraphError, match=r"\[diopiIndexSelect\] index 7 at 1 is not in"):
                session.run("pick", {"x": random(5), "index": np.array([4, 7])})
            got = session.run("pick", {"x": random(5), "index": np.array([4, 0])})
            assert list(got["picked"]) == list(random(5)[[4, 0]])
