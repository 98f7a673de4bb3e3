"""Tools for tests of the foundation."""

from __future__ import annotations

from typing import Any

import torch

from dl_optools.backward_graph import Gradients, GradientWatch, Watches
from dl_optools.call import OpCall
from dl_optools.tensors import find_written, tensors_of, versions
from dl_optools.tool import Tool


class Seen(Tool):
    """Records the names of calls and passes them on."""

    variable = "SEEN"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"device": "cpu", **options})
        self.names: list[str] = []
        self.calls: list[tuple[str, str | None, bool, str]] = []

    def handle(self, call: OpCall) -> Any:
        self.names.append(call.name)
        parent = None if call.parent is None else call.parent.name
        self.calls.append((call.name, parent, call.backward, call.module))
        return call.proceed()


class Watching(Tool):
    """Keeps the gradients of all calls."""

    variable = "WATCHING"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"device": "cpu", **options})
        self.reports: list[tuple[str, Gradients]] = []
        self.watches = Watches()

    def closed(self) -> None:
        self.watches.detach()

    def handle(self, call: OpCall) -> Any:
        given = tensors_of(call.args, call.kwargs)
        before = versions(given)
        name = call.name
        watch = GradientWatch(given, lambda found: self.reports.append((name, found)))
        result = call.proceed()
        if watch.attach([*tensors_of(result), *find_written(given, before)]):
            self.watches.add(watch)
        return result

    def of(self, name: str) -> list[Gradients]:
        return [found for reported, found in self.reports if reported.endswith(name)]

    def one(self, name: str) -> Gradients:
        (found,) = self.of(name)
        return found


def leaf(*size: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(size))
    return torch.randn(*size, generator=generator).requires_grad_()
