"""One training step on any device and in any precision; its results have names.

Every run starts from the same numbers: weights and batches are float32 values, which float64
represents exactly. Results are on the CPU, with the keys ``loss``, ``output``, ``gradient of NAME``
as the optimizer receives it, and ``updated NAME`` for weights and buffers. ``rule.py`` judges them.
"""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

Batch = dict[str, torch.Tensor]
Results = dict[str, torch.Tensor]
Forward = Callable[[nn.Module, Batch], tuple[torch.Tensor, torch.Tensor]]
MakeOptimizer = Callable[[list[nn.Parameter]], torch.optim.Optimizer]

CPU = torch.device("cpu")


def classify(model: nn.Module, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
    logits = model(batch["inputs"])
    return functional.cross_entropy(logits, batch["labels"]), logits


def sgd(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=5e-4)


def adamw(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    return torch.optim.AdamW(parameters, lr=1e-3)


@dataclass(frozen=True)
class Step:
    """A model with float32 weights, a batch on the CPU, and the functions of one training step.

    :ivar forward: ``(model, batch) -> (loss, output)``.
    :ivar terms: number of terms in the sum of an element of a weight's gradient: the number of uses
        of the weight, rows of the batch times positions.
    :ivar clip: maximum norm of all gradients together; None: no limit.
    """

    model: nn.Module
    batch: Batch
    forward: Forward
    terms: int
    make_optimizer: MakeOptimizer = sgd
    clip: float | None = None

    def run(
        self,
        device: torch.device = CPU,
        dtype: torch.dtype = torch.float32,
        autocast: torch.dtype | None = None,
    ) -> Results:
        """Run the step on ``device``; the model of this object does not change.

        :param dtype: dtype of weights and floating-point inputs.
        :param autocast: dtype of autocast around the forward pass.
        """
        model = copy.deepcopy(self.model).to(device=device, dtype=dtype).train()
        batch = {
            name: value.to(device, dtype if value.is_floating_point() else None)
            for name, value in self.batch.items()
        }
        parameters = list(model.parameters())
        optimizer = self.make_optimizer(parameters)
        with torch.autocast(device.type, dtype=autocast, enabled=autocast is not None):
            loss, output = self.forward(model, batch)
        loss.backward()
        results = {"loss": loss, "output": output}
        if self.clip is not None:
            results["norm of gradients"] = nn.utils.clip_grad_norm_(parameters, self.clip)
        for name, weight in model.named_parameters():
            if weight.grad is not None:
                results[f"gradient of {name}"] = weight.grad.clone()
        optimizer.step()
        results |= {f"updated {name}": value for name, value in model.state_dict().items()}
        return {name: value.detach().cpu() for name, value in results.items()}

    def reference(self) -> Results:
        """Return the results of the step in float64 on the CPU."""
        with KeepFloat64():
            return self.run(dtype=torch.float64)

    def update(self, gradients: Results) -> Results:
        """Return the optimizer's update for ``gradients`` in float64: ``updated NAME`` per weight.

        Each name of tied weights gets an entry.
        """
        model = copy.deepcopy(self.model).double()
        for name, weight in model.named_parameters():
            gradient = gradients.get(f"gradient of {name}")
            weight.grad = None if gradient is None else gradient.double()
        self.make_optimizer(list(model.parameters())).step()
        named = model.named_parameters(remove_duplicate=False)
        return {f"updated {name}": weight.detach() for name, weight in named}

    def weights(self) -> Results:
        """Return the float64 weights before the step, under the keys of :meth:`update`."""
        named = self.model.named_parameters(remove_duplicate=False)
        return {f"updated {name}": weight.detach().double() for name, weight in named}

    def cpu_variants(self, autocast: torch.dtype | None = None) -> dict[str, Results]:
        """Return the results on the CPU, with and without oneDNN, with one thread and with two."""
        variants = {}
        for onednn in (True, False):
            for threads in (1, 2):
                with cpu_settings(onednn, threads):
                    name = f"oneDNN {'on' if onednn else 'off'}, {threads} threads"
                    variants[name] = self.run(autocast=autocast)
        return variants

    def changed(self, **changes: Any) -> Step:
        """Return a copy of the step with ``changes``, which do not affect this one."""
        return replace(self, **changes)


@contextlib.contextmanager
def cpu_settings(onednn: bool, threads: int) -> Iterator[None]:
    """Set oneDNN and threads, without NNPACK: its convolutions are ten times less accurate."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with warnings.catch_warnings():
            # The context manager also sets other options, and torch warns about them.
            warnings.filterwarnings("ignore", "TF32 acceleration on top of oneDNN")
            with (
                torch.backends.mkldnn.flags(enabled=onednn),
                torch.backends.nnpack.flags(enabled=False),
            ):
                yield
    finally:
        torch.set_num_threads(before)


WITHOUT_PROMOTION = frozenset(
    {
        torch.ops.aten.nll_loss_forward.default,
        torch.ops.aten.nll_loss_backward.default,
        torch.ops.aten.nll_loss2d_forward.default,
        torch.ops.aten.nll_loss2d_backward.default,
    }
)
"""Operators that reject float32 class weights with float64 values."""


def is_float64(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == torch.float64


def is_float32(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


class KeepFloat64(TorchDispatchMode):
    """Keep float64 tensors in float64 if a model requests float32.

    Models convert to float32 where 16 bits are not sufficient (norms, rotary embeddings, losses),
    which would narrow the reference. Tensors that they create in float32 are widened if necessary.
    """

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if (
            func is torch.ops.aten._to_copy.default
            and args[0].dtype == torch.float64
            and kwargs.get("dtype") == torch.float32
        ):
            kwargs["dtype"] = torch.float64
        if func in WITHOUT_PROMOTION and any(is_float64(each) for each in args):
            args = tuple(each.double() if is_float32(each) else each for each in args)
        if func is torch.ops.aten._grouped_mm.default and args[0].dtype == torch.float64:
            return grouped_product(args[0], args[1], args[2])
        return func(*args, **kwargs)


def grouped_product(left: torch.Tensor, right: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """Compute ``torch._grouped_mm``, which has no float64 kernel, by its definition.

    :param left: (G, M, K), (M, K) grouped by rows, or (M, K) grouped by columns as ``right`` is.
    :param right: (G, K, N), (K, N) grouped by columns, or (K, N) grouped by rows.
    :param ends: (G,) end of each group.
    """
    stops: list[int] = ends.tolist()
    groups = [slice(start, end) for start, end in zip([0, *stops], stops, strict=False)]
    if left.ndim == 2 and right.ndim == 2:
        return torch.stack([left[:, group] @ right[group] for group in groups])
    if left.ndim == 2:
        parts = [left[group] @ right[at] for at, group in enumerate(groups)]
        rest = left.new_zeros(len(left) - stops[-1], right.shape[-1])
        return torch.cat([*parts, rest])
    if right.ndim == 2:
        return torch.cat([left[at] @ right[:, group] for at, group in enumerate(groups)], dim=1)
    return left @ right
