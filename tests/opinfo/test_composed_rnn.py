"""Recurrent layers run without a fallback; results and gradients are close to the CPU's float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.vendor("cpu")

INPUT, HIDDEN, LENGTH, BATCH = 5, 7, 6, 3
LAYERS: dict[str, tuple[type[torch.nn.RNNBase], dict[str, Any]]] = {
    "lstm": (torch.nn.LSTM, dict()),
    "lstm-deep": (torch.nn.LSTM, dict(num_layers=2, bidirectional=True, batch_first=True)),
    "lstm-no-bias": (torch.nn.LSTM, dict(bias=False)),
    "lstm-projection": (torch.nn.LSTM, dict(proj_size=4)),
    "gru": (torch.nn.GRU, dict()),
    "gru-deep": (torch.nn.GRU, dict(num_layers=2, bidirectional=True)),
    "gru-no-bias": (torch.nn.GRU, dict(bias=False)),
    "rnn-tanh": (torch.nn.RNN, dict()),
    "rnn-relu": (torch.nn.RNN, dict(nonlinearity="relu", num_layers=2)),
}


@pytest.fixture(autouse=True)
def _no_fallback(vendor: str) -> Iterator[None]:
    with torch.dl.fallback("error"):
        yield


def run(name: str, device: str, dtype: torch.dtype) -> list[torch.Tensor]:
    """Return output, states, and the gradients of the input and of every weight."""
    kind, options = LAYERS[name]
    torch.manual_seed(0)
    layer = kind(INPUT, HIDDEN, **options).to(dtype).to(device)
    x = torch.randn(LENGTH, BATCH, INPUT).to(dtype).to(device).requires_grad_()
    output, state = layer(x)
    states = list(state) if isinstance(state, tuple) else [state]
    total = sum((each * each).sum() for each in [output, *states])
    total.backward()
    tensors = [output, *states, x.grad, *(weight.grad for weight in layer.parameters())]
    return [tensor.detach().cpu() for tensor in tensors if tensor is not None]


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, dtype: torch.dtype, bound: float) -> None:
    got, want = run(name, "dl", dtype), run(name, "cpu", torch.float64)
    for have, reference in zip(got, want, strict=True):
        torch.testing.assert_close(have.double(), reference, rtol=bound, atol=bound)


@pytest.mark.parametrize("part", ["hy", "cy"])
def test_gradient_of_one_state_alone(part: str) -> None:
    results = []
    for device in ("cpu", "dl"):
        torch.manual_seed(1)
        cell = torch.nn.LSTMCell(INPUT, HIDDEN).double().to(device)
        x = torch.randn(BATCH, INPUT, dtype=torch.float64).to(device).requires_grad_()
        hy, cy = cell(x)
        (hy if part == "hy" else cy).square().sum().backward()
        results.append([x.grad.cpu(), *(p.grad.cpu() for p in cell.parameters())])
    torch.testing.assert_close(*results, rtol=1e-12, atol=1e-12)


def gates(count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    shapes = [(BATCH, count * HIDDEN), (BATCH, count * HIDDEN), (BATCH, HIDDEN)]
    return [torch.randn(shape, generator=generator).to("dl") for shape in shapes]


@pytest.mark.parametrize("empty", [True, False])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_out_forms(kind: str, empty: bool) -> None:
    aten = torch.ops.aten
    forward = getattr(aten, f"_thnn_fused_{kind}_cell")
    results = forward(*gates(4 if kind == "lstm" else 3))
    grad = torch.ones(BATCH, HIDDEN, device="dl")
    if kind == "lstm":
        backward = aten._thnn_fused_lstm_cell_backward_impl
        _, cy, workspace = results
        arguments = (grad, grad, gates(4)[2], cy, workspace, True)
    else:
        backward = aten._thnn_fused_gru_cell_backward
        arguments = (grad, results[1], True)
    for op, given in ((forward, gates(4 if kind == "lstm" else 3)), (backward, arguments)):
        want = op(*given)
        outs = [torch.empty(0, device="dl") if empty else torch.empty_like(t) for t in want]
        named = {f"out{at}": out for at, out in enumerate(outs)}
        op.out(*given, **named)
        for out, each in zip(outs, want, strict=True):
            assert torch.equal(out.cpu(), each.cpu())
