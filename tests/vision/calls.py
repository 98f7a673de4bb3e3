"""Calls of torchvision's operators, run on any device and in any precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from diopi_proto.tolerance import OpClass
from dl_torch_tests.opinfo.judge import metadata_problem, value_problem

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Call:
    """A call of an operator that is differentiable.

    :ivar function: function of the tensors by name.
    :ivar tensors: float32 tensors on the CPU; those named in ``differentiable`` get gradients.
    :ivar terms: number of terms of the longest sum in a result or a gradient.
    :ivar operators: overloads that torch's dispatcher must call, forward and backward.
    """

    function: Callable[..., torch.Tensor]
    tensors: Tensors
    differentiable: tuple[str, ...]
    terms: int
    operators: tuple[str, ...]

    def run(
        self, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
    ) -> Tensors:
        """Return ``output``, and ``gradient of NAME`` for a cotangent that all runs share."""
        moved = {name: value.to(device, dtype) for name, value in self.tensors.items()}
        for name in self.differentiable:
            moved[name].requires_grad_()
        output = self.function(**moved)
        cotangent = torch.randn(output.shape, generator=torch.Generator().manual_seed(1))
        wanted = [moved[name] for name in self.differentiable]
        gradients = torch.autograd.grad(output, wanted, cotangent.to(device, dtype))
        found = zip(self.differentiable, gradients, strict=True)
        return {"output": output.detach(), **{f"gradient of {name}": g for name, g in found}}

    def problems(self, got: Tensors, device: torch.device) -> list[str]:
        """Return what is wrong with a run's results on ``device``, against the CPU and float64."""
        cpu, exact = self.run(), self.run(dtype=torch.float64)
        assert got.keys() == cpu.keys()
        found = []
        for name, want in cpu.items():
            problem = metadata_problem(got[name], want, str(device)) or value_problem(
                got[name], want, exact[name], OpClass.MATMUL, self.terms
            )
            if problem is not None:
                found.append(f"{name}: {problem}")
        return found
