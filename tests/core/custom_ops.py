"""Operators with CPU kernels that use memory in ways that op_db does not.

dl has no kernels for them, so every call on dl uses the fallback.
"""

from __future__ import annotations

import torch

NAMESPACE = "dl_alias_test"

_library = torch.library.Library(NAMESPACE, "DEF")


def _define(schema: str) -> object:
    """Register the decorated function as the CPU kernel of ``schema``."""

    def register(kernel: object) -> object:
        _library.define(schema)
        _library.impl(schema.split("(")[0], kernel, "CPU")
        return kernel

    return register


@_define("tail(Tensor(a) x, int start) -> Tensor(a)")
def _tail(x: torch.Tensor, start: int) -> torch.Tensor:
    return x[start:]


@_define("two_parts(Tensor(a) x) -> (Tensor(a), Tensor(a))")
def _two_parts(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    middle = x.shape[0] // 2
    return x[:middle], x[middle:]


@_define("chunks(Tensor(a) x, int size) -> Tensor(a)[]")
def _chunks(x: torch.Tensor, size: int) -> list[torch.Tensor]:
    return list(x.split(size))


@_define("scatter_ones_(Tensor(a!)[] tensors) -> ()")
def _scatter_ones_(tensors: list[torch.Tensor]) -> None:
    for at, tensor in enumerate(tensors):
        tensor.fill_(at + 1)


@_define("double_into(Tensor x, *, Tensor(a!) out) -> Tensor(a!)")
def _double_into(x: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    out.resize_(x.shape)
    return out.copy_(x * 2)


@_define("grow_(Tensor(a!) x, int size) -> Tensor(a!)")
def _grow_(x: torch.Tensor, size: int) -> torch.Tensor:
    old = x.shape[0]
    x.resize_(size)
    x[old:] = -1
    return x


@_define("grow_then_read(Tensor(a!) x, Tensor y, int size) -> Tensor")
def _grow_then_read(x: torch.Tensor, y: torch.Tensor, size: int) -> torch.Tensor:
    x.resize_(size)
    x.fill_(5)
    return y.clone()


@_define("add_one_(Tensor(a!) x) -> Tensor(a!)")
def _add_one_(x: torch.Tensor) -> torch.Tensor:
    return x.add_(1)


@_define("replace_(Tensor(a!) x, float value) -> Tensor(a!)")
def _replace_(x: torch.Tensor, value: float) -> torch.Tensor:
    return x.set_(torch.full((3,), value, dtype=x.dtype))


@_define("adopt_(Tensor(a!) x, Tensor y) -> Tensor(a!)")
def _adopt_(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.set_(y)


@_define("same(Tensor(a) x) -> Tensor(a)")
def _same(x: torch.Tensor) -> torch.Tensor:
    return x


@_define("write_then_read(Tensor(a!) x, Tensor y) -> Tensor")
def _write_then_read(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x.fill_(5)
    return y.clone()


@_define("sum_given(Tensor?[] tensors) -> Tensor")
def _sum_given(tensors: list[torch.Tensor | None]) -> torch.Tensor:
    given = [tensor for tensor in tensors if tensor is not None]
    return torch.stack(given).sum(0)


@_define("shares_storage(Tensor x, Tensor y) -> bool")
def _shares_storage(x: torch.Tensor, y: torch.Tensor) -> bool:
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


@_define("first_two(Tensor x) -> (Tensor, Tensor)")
def _first_two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two new tensors that share one new storage."""
    made = x * 10
    return made[:1], made[1:]


kept: list[torch.Tensor] = []
"""Arguments of ``keep`` and results of ``make_and_keep``, as their kernels saw them."""


@_define("keep(Tensor x) -> ()")
def _keep(x: torch.Tensor) -> None:
    kept.append(x)


@_define("make_and_keep(Tensor x) -> Tensor")
def _make_and_keep(x: torch.Tensor) -> torch.Tensor:
    kept.append(x + 1)
    return kept[-1]


@_define("set_conjugate_(Tensor(a!) x) -> Tensor(a!)")
def _set_conjugate_(x: torch.Tensor) -> torch.Tensor:
    """Like linalg.lu_solve with out=: the result is a conjugate view."""
    torch._C._set_conj(x, not x.is_conj())
    return x


ops = getattr(torch.ops, NAMESPACE)
