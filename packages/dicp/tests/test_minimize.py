"""A failing graph becomes the smallest one that still fails, with the values that it fails with."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import Vendor, load_vendor
from diopi_proto.errors import GraphError
from diopi_proto.graph import GraphBuilder, Session
from dl_dicp.minimize import Failing, minimize
from dl_vendor_cpu.plugin import dl_vendor


def cpu() -> Vendor:
    descriptor = dl_vendor()
    assert descriptor is not None
    return load_vendor(descriptor.library)


def chain() -> Failing:
    """Five calls, one after the other."""
    builder = GraphBuilder()
    entry = builder.entry("main")
    x = entry.input("x", (4, 8), "float32")
    steps = [x]
    for name in ("Exp", "Sqrt", "Log", "Sin", "Cos"):
        made = entry.empty((4, 8), "float32")
        entry.call(f"diopi{name}", made, steps[-1])
        steps.append(made)
    entry.output("y", steps[-1])
    values = np.random.default_rng(0).random((4, 8), np.float32)
    return Failing(builder.build(), {"x": values})


def names(given: Failing) -> list[str]:
    return [name for name, _ in given.graph.entry("main")["calls"]]


def test_the_calls_that_fail_are_left_with_their_values() -> None:
    vendor = cpu()
    given = chain()
    tried: list[int] = []

    def fails(candidate: Failing) -> bool:
        tried.append(candidate.calls)
        with Session(candidate.graph, vendor) as session:
            session.run("main", dict(candidate.inputs))
        return "diopiLog" in names(candidate)

    found = minimize(given, vendor, fails)
    assert names(found) == ["diopiLog"] and tried[0] == 5
    (value,) = found.inputs.values()
    wanted = np.sqrt(np.exp(given.inputs["x"]))
    np.testing.assert_allclose(value.view(np.float32).reshape(4, 8), wanted, rtol=1e-6)
    with Session(found.graph, vendor) as session:
        (made,) = session.run("main", dict(found.inputs)).values()
    np.testing.assert_allclose(made, np.log(wanted), rtol=1e-5, atol=1e-6)


def test_two_calls_that_fail_together_stay() -> None:
    vendor = cpu()
    together = {"diopiExp", "diopiSin"}
    found = minimize(chain(), vendor, lambda candidate: together <= set(names(candidate)))
    assert names(found) == ["diopiExp", "diopiSin"]


def test_one_that_does_not_fail_is_refused() -> None:
    vendor = cpu()
    with pytest.raises(GraphError, match="does not fail with these inputs"):
        minimize(chain(), vendor, lambda _: False)
