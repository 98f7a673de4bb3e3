"""Contract graphs run on a real vendor as numpy computes them, and use its own random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from diopi_proto import Generator, Vendor, load_vendor
from dl_graph import GraphBuilder, Session
from dl_vendor_cpu.plugin import dl_vendor
from graph_models import MODELS, random

pytestmark = pytest.mark.vendor("cpu")


@pytest.fixture(scope="module")
def cpu() -> Iterator[Vendor]:
    with load_vendor(dl_vendor().library) as loaded:
        yield loaded


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_computes_what_numpy_computes(name: str, cpu: Vendor) -> None:
    build_graph, check = MODELS[name]
    with Session(build_graph().build(name), cpu, poison=True) as session:
        check(session)


def test_a_generator_draws_what_an_eager_call_draws(cpu: Vendor) -> None:
    x = random(1000)
    with Session(MODELS["dropout"][0]().build(), cpu) as session:
        session.seed("dropout", 11, 4)
        got = session.run("train", {"x": x})
        generator = Generator(11, 4)
        out, mask = cpu.empty([1000]), cpu.empty([1000], "bool")
        cpu.op.Dropout(out, mask, cpu.tensor(x), 0.25, True, generator)
        assert (mask.numpy() == got["mask"]).all()
        assert (2 * out.numpy() == got["twice"]).all()
        assert session.offset("dropout") == generator.offset


def test_lists_of_tensors_and_sizes_and_absent_tensors_are_passed(cpu: Vendor) -> None:
    graph = GraphBuilder()
    entry = graph.entry("forward")
    rows = entry.symbol("rows", 1, 9)
    x = entry.input("x", [rows, 4], "float32")
    joined = entry.empty([2 * rows, 4], name="joined")
    entry.call("Cat", joined, [x, x], 0)
    normal = entry.empty([2 * rows, 4], name="normal")
    mean, inverse = (entry.empty([2 * rows, 1]) for _ in range(2))
    entry.call("LayerNorm", normal, mean, inverse, joined, None, None, [4], 1e-5)
    total = entry.empty([2 * rows, 1], name="total")
    entry.call("Sum", total, normal, [1])
    whole = entry.empty([], name="whole")
    entry.call("Sum", whole, joined, None)
    entry.output("normal", normal)
    entry.output("total", total)
    entry.output("whole", whole)
    with Session(graph.build(), cpu, poison=True) as session:
        given = random(3, 4)
        got = session.run("forward", {"x": given})
    both = np.concatenate([given, given])
    wanted = (both - both.mean(1, keepdims=True)) / np.sqrt(both.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(got["normal"], wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got["total"], np.zeros((6, 1)), atol=1e-4)
    np.testing.assert_allclose(got["whole"], both.sum(), rtol=1e-5)
    assert got["whole"].shape == ()
