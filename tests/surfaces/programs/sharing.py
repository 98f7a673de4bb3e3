"""Functions of the other process of test_process_sharing.py."""

from __future__ import annotations

import os
import signal
from typing import Any

import torch

from dl_core import _C

KEPT: dict[str, Any] = {}
"""Received objects that are used again."""


def serve(inbox: Any, outbox: Any) -> None:
    """Call the requested functions until the request is None; answer with the result or the error's
    text."""
    while True:
        try:
            asked = inbox.get()
            if asked is None:
                return
            name, arguments = asked
            answer = ("returned", globals()[name](*arguments))
        except Exception as error:  # noqa: BLE001 - the test looks at it
            answer = ("raised", f"{type(error).__name__}: {error}")
        try:
            outbox.put(answer)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            outbox.put(("raised", f"{type(error).__name__}: {error}"))


def keep(name: str, value: Any) -> None:
    KEPT[name] = value


def drop_all() -> None:
    KEPT.clear()


def facts(name: str) -> dict[str, Any]:
    tensor = KEPT[name]
    return {
        "type": type(tensor).__name__,
        "device": str(tensor.device),
        "stride": tensor.stride(),
        "requires_grad": tensor.requires_grad,
        "is_shared": tensor.is_shared(),
        "values": tensor.detach().to_dense().cpu(),
    }


def values(name: str) -> torch.Tensor:
    return KEPT[name].detach().to_dense().cpu()  # type: ignore[no-any-return]


def add(name: str, number: float) -> None:
    KEPT[name].add_(number)
    torch.dl.synchronize()


def call(name: str, host: torch.Tensor) -> torch.Tensor:
    return KEPT[name](host.to("dl")).detach().cpu()  # type: ignore[no-any-return]


def give_back(name: str) -> Any:
    return KEPT[name]


def create(count: int) -> torch.Tensor:
    return torch.arange(count, device="dl")


def allocated() -> int:
    return int(torch.dl.memory_allocated())


def borrow(message: bytes) -> torch.Tensor:
    return _C.borrow_storage(message).cpu()


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def send_and_end(outbox: Any) -> None:
    """Process that sends an object and ends at once."""
    outbox.put(torch.ones(4, device="dl"))
