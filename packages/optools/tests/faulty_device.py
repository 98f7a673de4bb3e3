"""A device with one wrong overload, below the tools, for tests of `dl diagnose`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dl_optools.call import OUR_MODES
from dl_optools.compare.autocompare import OpAutoCompare
from dl_optools.diagnosis.probe import OpProbe

Wrong = Callable[[Any], Any]
Compute = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class Faulty(TorchDispatchMode):
    """The CPU with one wrong overload.

    :param name: name of the overload; ``.*``: all overloads.
    :param wrong: changes the correct result into the wrong one.
    :param instead: computes the result instead of the CPU.
    """

    def __init__(
        self, name: str, wrong: Wrong = lambda x: x, instead: Compute | None = None
    ) -> None:
        super().__init__()
        self.name, self.wrong, self.instead = name, wrong, instead

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.name not in (str(func), ".*"):
            return func(*args, **kwargs)
        if self.instead is not None:
            return self.instead(func, args, kwargs)
        return self.wrong(func(*args, **kwargs))


@contextmanager
def below_the_tools() -> Iterator[None]:
    """Apply the device to the tools' own calls, too."""
    OUR_MODES.append(Faulty)
    try:
        yield
    finally:
        OUR_MODES.remove(Faulty)


def probed(work: Callable[[], Any], name: str = "", *wrong: Any, **options: Any) -> dict[str, Any]:
    """Return the probe's report of a program on the device with a fault."""
    torch.manual_seed(0)
    with below_the_tools(), Faulty(name, *wrong, **options), OpProbe(device="cpu") as tool:
        work()
    return tool.report()


def compared(work: Callable[[], Any], name: str = "", *wrong: Any, **options: Any) -> OpAutoCompare:
    """Return the tool after it compared every call of a program on the device with a fault."""
    torch.manual_seed(0)
    tool = OpAutoCompare(device="cpu", every=1, stream=None, csv=False, bundles=0, attribute=False)
    with below_the_tools(), Faulty(name, *wrong, **options), tool:
        work()
    return tool
