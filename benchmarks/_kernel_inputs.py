"""Inputs for the calls of `_kernel_calls.py`: equal tensors on every device."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch.nn import functional

Call = Callable[[], object]
Make = Callable[["Inputs"], Call]

SHORT = 25
"""Number of elements of a short row: too few to fill a vector register."""
CLASSES = 64
"""Number of classes in losses over labels."""


class Inputs:
    """Tensors of about ``n`` elements, the same on every device."""

    def __init__(self, n: int, dtype: torch.dtype, device: str) -> None:
        self._generator = torch.Generator().manual_seed(0)
        self._dtype, self._device = dtype, device
        side = math.isqrt(n)
        self.n = n
        self.shape = (side, side)
        self.a, self.b, self.c = (self.uniform(side, side) for _ in range(3))
        self.mask = (self.a > 1).to(device)
        self.row = self.uniform(side)
        self.index = self.integers(side, side)

    def uniform(self, *shape: int) -> torch.Tensor:
        values = torch.rand(*shape, generator=self._generator).add_(0.5)
        return values.to(self._dtype).to(self._device)

    def integers(self, end: int, *shape: int) -> torch.Tensor:
        return torch.randint(end, shape, generator=self._generator).to(self._device)

    def short_rows(self) -> torch.Tensor:
        return self.uniform(self.n // SHORT, SHORT)

    def images(self, channels: int) -> torch.Tensor:
        side = max(8, math.isqrt(self.n // (4 * channels)))
        return self.uniform(4, channels, side, side)

    def heads(self) -> torch.Tensor:
        length = max(16, math.isqrt(self.n // 8))
        return self.uniform(1, 4, length, 32)


def backward(forward: Callable[[Inputs, torch.Tensor], torch.Tensor]) -> Make:
    """Run forward and backward, as in training."""

    def make(x: Inputs) -> Call:
        leaf = x.a.detach().clone().requires_grad_()

        def call() -> object:
            with torch.enable_grad():
                return torch.autograd.grad(forward(x, leaf).sum(), leaf)

        return call

    return make


def short_rows(function: Callable[[torch.Tensor], object]) -> Make:
    def make(x: Inputs) -> Call:
        rows = x.short_rows()
        return lambda: function(rows)

    return make


def mv_short_rows(x: Inputs) -> Call:
    matrix, vector = x.short_rows(), x.uniform(SHORT)
    return lambda: matrix @ vector


def convolution(x: Inputs, kernel: int, groups: int = 1) -> Call:
    image = x.images(16)
    weight = x.uniform(16, 16 // groups, kernel, kernel)
    return lambda: functional.conv2d(image, weight, padding=kernel // 2, groups=groups)


def batch_norm(x: Inputs) -> Call:
    image = x.images(16)
    mean, deviation = x.uniform(16).float(), x.uniform(16).float()
    return lambda: functional.batch_norm(image, mean, deviation, training=True)


def attention(x: Inputs) -> Call:
    q, k, v = x.heads(), x.heads(), x.heads()
    return lambda: functional.scaled_dot_product_attention(q, k, v)


def adamw(x: Inputs) -> Call:
    moments = [torch.zeros_like(x.a) for _ in range(2)]
    step = torch.ones((), device=x.a.device)
    parameter, gradient = x.a.clone(), x.b
    return lambda: torch._fused_adamw_(
        [parameter],
        [gradient],
        [moments[0]],
        [moments[1]],
        [],
        [step],
        lr=1e-3,
        beta1=0.9,
        beta2=0.99,
        weight_decay=0.01,
        eps=1e-8,
        amsgrad=False,
        maximize=False,
    )


def of(function: Callable[[torch.Tensor], object]) -> Make:
    """Call a function of the first matrix."""
    return lambda x: lambda: function(x.a)


def unaries(module: object, names: str) -> dict[str, Make]:
    return {name: of(getattr(module, name)) for name in names.split()}


def binaries(module: object, names: str) -> dict[str, Make]:
    return {name: binary(getattr(module, name)) for name in names.split()}


def binary(function: Callable[[torch.Tensor, torch.Tensor], object]) -> Make:
    return lambda x: lambda: function(x.a, x.b)


def of_integers(function: Callable[..., object]) -> Make:
    def make(x: Inputs) -> Call:
        first, second = x.integers(1 << 30, *x.shape), x.integers(1 << 30, *x.shape)
        return lambda: function(first, second)

    return make


def of_bools(function: Callable[[torch.Tensor], object]) -> Make:
    return lambda x: lambda: function(x.mask)


def of_image(function: Callable[[torch.Tensor], object], channels: int = 16) -> Make:
    def make(x: Inputs) -> Call:
        image = x.images(channels)
        return lambda: function(image)

    return make


def of_list(function: Callable[[list[torch.Tensor]], object]) -> Make:
    """Call a function of sixteen tensors, like the parameter lists of optimizers."""

    def make(x: Inputs) -> Call:
        pieces = [piece.clone() for piece in x.a.flatten()[: x.n // 16 * 16].chunk(16)]
        return lambda: function(pieces)

    return make


def of_scores(function: Callable[..., object]) -> Make:
    """Call a function of class scores and labels."""

    def make(x: Inputs) -> Call:
        scores, labels = x.uniform(x.n // CLASSES, CLASSES), x.integers(CLASSES, x.n // CLASSES)
        return lambda: function(scores, labels)

    return make


def of_complex(function: Callable[[torch.Tensor], object]) -> Make:
    def make(x: Inputs) -> Call:
        values = torch.complex(x.a.float(), x.b.float())
        return lambda: function(values)

    return make


def of_complex_rows(length: int, function: Callable[[torch.Tensor], object]) -> Make:
    """Call a function of complex rows with ``length`` elements each."""

    def make(x: Inputs) -> Call:
        shape = (max(1, x.n // length), length)
        values = torch.complex(x.uniform(*shape).float(), x.uniform(*shape).float())
        return lambda: function(values)

    return make


def ctc_loss(x: Inputs) -> Call:
    batch, classes, label = 4, 32, 8
    steps = max(2 * label, x.n // (batch * classes))
    scores = x.uniform(steps, batch, classes).float().log_softmax(2)
    targets = x.integers(classes - 1, batch, label) + 1
    steps_of, length_of = [steps] * batch, [label] * batch
    return lambda: functional.ctc_loss(scores, targets, steps_of, length_of)


def grid_sample(x: Inputs) -> Call:
    image = x.images(16).float()
    grid = x.uniform(*image.shape[:1], *image.shape[2:], 2).float() - 1
    return lambda: functional.grid_sample(image, grid, align_corners=False)


def positive_definite(x: Inputs, size: int) -> torch.Tensor:
    matrices = x.uniform(max(1, x.n // size**2), size, size).float()
    return matrices @ matrices.mT + size * torch.eye(size).to(matrices.device)


def of_matrices(function: Callable[[torch.Tensor], object]) -> Make:
    """Call a function of a batch of small matrices, as in batched solves."""

    def make(x: Inputs) -> Call:
        matrices = positive_definite(x, 16)
        return lambda: function(matrices)

    return make


def of_a_large_matrix(function: Callable[[torch.Tensor], object]) -> Make:
    def make(x: Inputs) -> Call:
        (matrix,) = positive_definite(x, x.shape[0])
        return lambda: function(matrix)

    return make


def rms_norm(x: Inputs) -> Call:
    return lambda: functional.rms_norm(x.a, x.shape[1:], x.row)


def sparse(x: Inputs) -> Call:
    side = x.shape[0]
    rows = torch.arange(side + 1) * 8
    # The columns are drawn on the CPU, so that they are the same on all devices. Each row of the
    # matrix has eight entries.
    columns = x.integers(side, 8 * side).cpu()
    values = x.uniform(8 * side).float()
    device = values.device
    matrix = torch.sparse_csr_tensor(rows.to(device), columns.to(device), values, (side, side))
    dense = x.a.float()
    return lambda: matrix @ dense


def degrees(function: Callable[[torch.Tensor, torch.Tensor], object]) -> Make:
    def make(x: Inputs) -> Call:
        degrees = x.integers(8, *x.shape).float()
        argument = x.a.float() - 0.5
        return lambda: function(argument, degrees)

    return make


def single(function: Callable[[torch.Tensor], object]) -> Make:
    """Call a function that torch supports only in float32, whatever dtype is benchmarked."""

    def make(x: Inputs) -> Call:
        values = x.a.float()
        return lambda: function(values)

    return make


def unscale(x: Inputs) -> Call:
    gradients, found, inverse = [x.a.float()], torch.zeros(1), torch.ones(1)
    found, inverse = found.to(x.a.device), inverse.to(x.a.device)
    return lambda: torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, inverse)
