from __future__ import annotations

import gc
import weakref

import torch

from dl_optools.attribution import Attribution
from watching import Seen, leaf


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.rest = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Linear(4, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.rest(self.first(x))
        return result


def test_overloads_know_their_function_and_module_in_forward_and_backward() -> None:
    model = Model()
    with Attribution(), Seen(level="dispatch") as tool:
        model(torch.ones(5, 3)).sum().backward()
    products = [call for call in tool.calls if call[0] in ("aten.addmm.default", "aten.mm.default")]
    linear = "torch.nn.functional.linear"
    assert products == [
        ("aten.addmm.default", linear, False, "first"),
        ("aten.addmm.default", linear, False, "rest.1"),
        ("aten.mm.default", linear, True, "rest.1"),
        ("aten.mm.default", linear, True, "rest.1"),
        ("aten.mm.default", linear, True, "first"),
    ]
    relu = [call for call in tool.calls if "threshold" in call[0]]
    assert relu == [("aten.threshold_backward.default", "torch.nn.functional.relu", True, "rest.0")]


def test_attribution_keeps_no_graph_alive() -> None:
    gc.collect()
    gc.disable()
    try:
        with Attribution():
            x = torch.exp(leaf(3))
            # An argument whose own node references the call would keep itself alive.
            x.mul_(2)
            ref = weakref.ref(x)
            del x
            assert ref() is None
    finally:
        gc.enable()
