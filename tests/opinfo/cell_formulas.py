"""Recurrent cells by their textbook formulas: torch has the fused ones on accelerators only.

Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; Cho et al. 2014 with the
reset gate after the product.
"""

from __future__ import annotations

import torch

Tensors = tuple[torch.Tensor | None, ...]


def lstm_cell(
    inputs: torch.Tensor,
    hidden: torch.Tensor,
    cell: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> Tensors:
    """Return the hidden state, the cell state, and the gates [batch, 4 * hidden] for backward."""
    total = inputs + hidden
    for bias in (input_bias, hidden_bias):
        total = total if bias is None else total + bias
    enter, forget, value, leave = total.chunk(4, 1)
    enter, forget, leave = enter.sigmoid(), forget.sigmoid(), leave.sigmoid()
    value = value.tanh()
    state = forget * cell + enter * value
    return leave * state.tanh(), state, torch.cat([enter, forget, value, leave], 1)


def lstm_cell_backward(
    grad_hidden: torch.Tensor,
    grad_state: torch.Tensor,
    cell: torch.Tensor,
    state: torch.Tensor,
    gates: torch.Tensor,
    has_bias: bool,
) -> Tensors:
    """Return gradients of the gates before activation, of the previous cell state and of a bias."""
    enter, forget, value, leave = gates.chunk(4, 1)
    bent = state.tanh()
    inner = grad_hidden * leave * (1 - bent**2) + grad_state
    grads = [
        inner * value * enter * (1 - enter),
        inner * cell * forget * (1 - forget),
        inner * enter * (1 - value**2),
        grad_hidden * bent * leave * (1 - leave),
    ]
    grad_gates = torch.cat(grads, 1)
    return grad_gates, inner * forget, grad_gates.sum(0) if has_bias else None


def gru_cell(
    inputs: torch.Tensor,
    hidden: torch.Tensor,
    state: torch.Tensor,
    input_bias: torch.Tensor | None = None,
    hidden_bias: torch.Tensor | None = None,
) -> Tensors:
    """Return the state, and what its gradient needs, [batch, 5 * hidden]."""
    inputs = inputs if input_bias is None else inputs + input_bias
    hidden = hidden if hidden_bias is None else hidden + hidden_bias
    ri, zi, ni = inputs.chunk(3, 1)
    rh, zh, nh = hidden.chunk(3, 1)
    reset, update = (ri + rh).sigmoid(), (zi + zh).sigmoid()
    new = (ni + reset * nh).tanh()
    return new + update * (state - new), torch.cat([reset, update, new, state, nh], 1)


def gru_cell_backward(grad: torch.Tensor, workspace: torch.Tensor, has_bias: bool) -> Tensors:
    """Return gradients of both products, of the previous state, and of both biases."""
    reset, update, new, state, hidden = workspace.chunk(5, 1)
    into_new = grad * (1 - update) * (1 - new**2)
    into_reset = into_new * hidden * reset * (1 - reset)
    into_update = grad * (state - new) * update * (1 - update)
    of_inputs = torch.cat([into_reset, into_update, into_new], 1)
    of_hidden = torch.cat([into_reset, into_update, into_new * reset], 1)
    biases = (of_inputs.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_inputs, of_hidden, grad * update, *biases
