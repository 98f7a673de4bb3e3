"""References of device-only overloads, compared with torch's equivalents of other names."""

from __future__ import annotations

import pytest
import torch

from dl_optools.compare import equivalents

aten = torch.ops.aten


def tensors(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_attention(causal: bool, scale: float | None) -> None:
    q, k, v, grad = tensors(*[(2, 3, 5, 4)] * 4)
    out = equivalents.attention(q, k, v, is_causal=causal, scale=scale)[0]
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    want = torch.nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal, scale=scale)
    torch.testing.assert_close(out, want.detach())
    scores = q @ k.transpose(-2, -1) * (0.5 if scale is None else scale)
    if causal:
        scores = scores.masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), -torch.inf)
    found = equivalents.attention_backward(
        grad, q, k, v, None, [True, True, True, False], out, scores.logsumexp(-1),
        *(None, None, 5, 5, 0.0, causal, None, None), scale=scale,
    )  # fmt: skip
    wanted = torch.autograd.grad(want, leaves, grad)
    torch.testing.assert_close(found[:3], wanted)
    assert found[3] is None


def test_attention_with_a_bias() -> None:
    q, k, v, bias, grad = tensors(*[(1, 2, 3, 4)] * 3, (1, 2, 3, 3), (1, 2, 3, 4))
    out = equivalents.attention(q, k, v, bias)[0]
    leaf = bias.clone().requires_grad_()
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, leaf)
    torch.testing.assert_close(out, want.detach())
    rows = (q @ k.transpose(-2, -1) / 2 + bias).logsumexp(-1)
    rest = (None, None, 3, 3, 0.0, False, None, None)
    found = equivalents.attention_backward(grad, q, k, v, bias, [True] * 4, out, rows, *rest)
    torch.testing.assert_close(found[3], torch.autograd.grad(want, leaf, grad)[0])


def test_lstm_cell() -> None:
    x, h, c, w, u, a, b = tensors((3, 5), (3, 4), (3, 4), (16, 5), (16, 4), (16,), (16,))
    want = torch._VF.lstm_cell(x, [h, c], w, u, a, b)
    found = equivalents.lstm_cell(x @ w.t(), h @ u.t(), c, a, b)
    torch.testing.assert_close(found[:2], tuple(want))


def test_lstm_cell_backward() -> None:
    gates, c, grad_h, grad_c = tensors((3, 16), (3, 4), (3, 4), (3, 4))
    leaves = [gates.requires_grad_(), c.requires_grad_()]
    hy, cy, _ = equivalents.lstm_cell(gates, torch.zeros_like(gates), c)
    wanted = torch.autograd.grad((hy, cy), leaves, (grad_h, grad_c))
    i, f, g, o = gates.detach().chunk(4, 1)
    workspace = torch.cat([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()], 1)
    found = equivalents.lstm_cell_backward(grad_h, grad_c, c.detach(), cy.detach(), workspace, True)
    torch.testing.assert_close(found[:2], wanted)
    torch.testing.assert_close(found[2], wanted[0].sum(0))
    assert equivalents.lstm_cell_backward(None, None, c, cy, workspace, True) == (None,) * 3


def test_gru_cell() -> None:
    x, h, w, u, a, b = tensors((3, 5), (3, 4), (12, 5), (12, 4), (12,), (12,))
    want = torch._VF.gru_cell(x, h, w, u, a, b)
    torch.testing.assert_close(equivalents.gru_cell(x @ w.t(), h @ u.t(), h, a, b)[0], want)


def test_gru_cell_backward() -> None:
    gates, theirs, h, a, b, grad = tensors((3, 12), (3, 12), (3, 4), (12,), (12,), (3, 4))
    leaves = [x.requires_grad_() for x in (gates, theirs, h, a, b)]
    hy, _ = equivalents.gru_cell(*leaves)
    wanted = torch.autograd.grad(hy, leaves, grad)
    ours, hidden = (gates + a).detach().chunk(3, 1), (theirs + b).detach().chunk(3, 1)
    reset, update = (ours[0] + hidden[0]).sigmoid(), (ours[1] + hidden[1]).sigmoid()
    fresh = (ours[2] + reset * hidden[2]).tanh()
    workspace = torch.cat([reset, update, fresh, h.detach(), hidden[2]], 1)
    torch.testing.assert_close(equivalents.gru_cell_backward(grad, workspace, True), wanted)
    assert equivalents.gru_cell_backward(grad, workspace, False)[3:] == (None, None)
    with pytest.raises(ValueError, match="a layout of its own"):
        equivalents.gru_cell_backward(grad, workspace.roll(4, 1) * 3, True)
    with pytest.raises(ValueError, match=r"has the shape \(3, 16\)"):
        equivalents.gru_cell_backward(grad, workspace[:, :16], True)
