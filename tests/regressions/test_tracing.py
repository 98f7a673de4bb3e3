"""A traced program recomputes the call: it contains no results of the traced call."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from opinfo.derived_calls import calls_of
from opinfo.recording import recordings
from torch import nn
from torch._subclasses.fake_tensor import DynamicOutputShapeException
from torch.nn import functional

from dl_torch_tests.opinfo.fixtures import one_thread
from dl_torch_tests.opinfo.operators import WITHOUT_VALUES

from .programs import (
    Program,
    Tensors,
    as_function,
    exported,
    functionalized,
    is_above_decomposition,
    others,
    registered,
    symbolic,
    tensors_in,
    traced,
)

__all__ = ["one_thread"]

# Many operators of torch emit deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

REFUSED = re.compile("unsupported argument type")
"""Error of torch's tracer, on every device, for lists of bools and for symbolic sizes."""
NOT_CALLED = re.compile("_copy_from_and_resize|_reshape_alias|record_stream|set_($|[.])")
"""Overloads whose arguments are storages, streams, or the memory of another tensor."""

Make = Callable[[Program, Tensors], Program]
Case = tuple[Program, Tensors, Tensors]
"""A function, tensors to trace it with, and tensors to run it with."""


def overloads(*, above: bool) -> list[str]:
    """Return the overloads. Needs the device while tests are collected; without one, the tests of
    modules fail."""
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        return []
    return [
        name
        for name in registered()
        if is_above_decomposition(name) == above
        and name.partition(".")[0] not in WITHOUT_VALUES
        and not NOT_CALLED.match(name)
    ]


@pytest.fixture(scope="session")
def _recorded() -> None:
    """Record the calls before a test's timeout starts."""
    recordings()


@pytest.fixture(autouse=True)
def _quiet_symbolic_tracing() -> Iterator[None]:
    """Silence the log of attempts, which appear even if another attempt succeeds."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    disabled, logger.disabled = logger.disabled, True
    yield
    logger.disabled = disabled


def case_of(overload: str) -> Case | None:
    """Return the first call of an overload that has tensors; None if there is none."""
    calls = calls_of(overload)
    assert calls, f"no call of {overload} is known: write one in opinfo/written_calls.py"
    for call in calls:
        function, tensors = as_function(call, "dl")
        for integers in (True, False):
            given = others(tensors, integers=integers)
            try:
                function(*given)
            except (RuntimeError, IndexError):
                continue  # some index tensors cannot be exchanged
            if tensors:
                return function, tensors, given
    return None


def check(function: Program, given: Tensors, program: Program) -> None:
    """Check that the program has the results of the function from which it was traced."""
    torch.manual_seed(0)
    want = tensors_in(function(*given))
    torch.manual_seed(0)
    got = tensors_in(program(*given))
    torch.testing.assert_close(got, want, equal_nan=True)


def check_overload(overload: str, make: Make) -> None:
    case = case_of(overload)
    if case is None:
        assert not any(as_function(call, "dl")[1] for call in calls_of(overload))
        return
    function, tensors, given = case
    with torch.no_grad():
        try:
            program = make(function, tensors)
        except RuntimeError as error:
            # Torch's fake tensors do not support results with data-dependent shapes.
            if isinstance(error, DynamicOutputShapeException) or REFUSED.search(str(error)):
                return
            raise
        check(function, given, program)


@pytest.mark.usefixtures("_recorded")
@pytest.mark.vendor("cpu")
@pytest.mark.parametrize("overload", overloads(above=True))
def test_a_traced_overload_above_its_decomposition_follows_its_arguments(overload: str) -> None:
    check_overload(overload, traced)


@pytest.mark.usefixtures("_recorded")
@pytest.mark.vendor("cpu")
@pytest.mark.sampled
@pytest.mark.parametrize("overload", overloads(above=False))
def test_a_traced_overload_follows_its_arguments(overload: str) -> None:
    check_overload(overload, traced)


@pytest.mark.usefixtures("_recorded")
@pytest.mark.vendor("cpu")
@pytest.mark.sampled
@pytest.mark.parametrize("make", [symbolic, functionalized, exported])
@pytest.mark.parametrize("overload", overloads(above=True))
def test_a_graph_of_an_overload_follows_its_arguments(overload: str, make: Make) -> None:
    check_overload(overload, make)


def heads(count: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: functional.scaled_dot_product_attention(
        *x.unflatten(-1, (3, count, -1)).movedim(-3, 0).transpose(-3, -2)
    )


MODULES: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "Conv1d": (lambda: nn.Conv1d(3, 4, 3), (2, 3, 9)),
    "Conv2d": (lambda: nn.Conv2d(3, 4, 3), (2, 3, 9, 8)),
    "Conv2d without a batch": (lambda: nn.Conv2d(3, 4, 3), (3, 9, 8)),
    "Conv2d, same": (lambda: nn.Conv2d(3, 4, 3, padding="same"), (2, 3, 9, 8)),
    "Conv2d, circular": (
        lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"),
        (2, 3, 9, 8),
    ),
    "Conv2d, grouped": (lambda: nn.Conv2d(4, 8, 3, groups=4, bias=False), (2, 4, 9, 8)),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2), (2, 2, 5, 4, 6)),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(3, 4, 3, stride=2), (2, 3, 5)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 4, 3, stride=2), (2, 3, 5, 4)),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 3, 2, stride=2), (1, 2, 3, 4, 2)),
    "BatchNorm2d": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)), (2, 3, 9, 8)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (2, 4, 5)),
    "RMSNorm": (lambda: nn.RMSNorm(5), (2, 4, 5)),
    "LSTM": (lambda: nn.LSTM(4, 5), (3, 2, 4)),
    "GRU": (lambda: nn.GRU(4, 5), (3, 2, 4)),
    "LSTMCell": (lambda: nn.LSTMCell(4, 5), (2, 4)),
    "GRUCell": (lambda: nn.GRUCell(4, 5), (2, 4)),
    "RNNCell": (lambda: nn.RNNCell(4, 5), (2, 4)),
    "attention": (lambda: heads(2), (2, 5, 24)),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        (2, 5, 8),
    ),
}


@pytest.mark.parametrize("make", [traced, exported])
@pytest.mark.parametrize("name", MODULES)
def test_a_program_of_a_module_follows_its_input(name: str, make: Make) -> None:
    torch.manual_seed(0)
    build, shape = MODULES[name]
    module = build()
    if isinstance(module, nn.Module):
        module = module.to("dl").eval()
    first, second = torch.randn(shape, device="dl"), torch.randn(shape, device="dl")
    with torch.no_grad():
        check(module, (second,), make(module, (first,)))


def gradients(function: Program, x: torch.Tensor, parameters: list[torch.Tensor]) -> Tensors:
    """Return the gradients of the sum of squares, and of the sum of squared gradients."""
    given = [x.clone().requires_grad_(), *parameters]
    first = torch.autograd.grad(function(given[0]).square().sum(), given, create_graph=True)
    penalty = torch.stack([gradient.square().sum() for gradient in first]).sum()
    return (*first, *torch.autograd.grad(penalty, given))


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("Conv")])
def test_a_traced_convolution_has_both_gradients(name: str) -> None:
    torch.manual_seed(0)
    build, shape = MODULES[name]
    module = build().to("dl")
    first, second = torch.randn(shape, device="dl"), torch.randn(shape, device="dl")
    program = torch.jit.trace(module, first, check_trace=False)
    parameters = list(module.parameters())
    got, want = (gradients(each, second, parameters) for each in (program, module))
    torch.testing.assert_close(got, want)


@pytest.mark.vendor("cpu")
def test_a_traced_convolution_runs_natively() -> None:
    module = nn.Conv2d(3, 4, 3).to("dl").eval()
    x = torch.randn(2, 3, 9, 8, device="dl")
    with torch.no_grad():
        program = torch.jit.trace(module, x)
        with torch.dl.fallback("error"), torch.dl.profile_operators():
            torch.dl.reset_native_stats()
            program(x)
            assert torch.dl.native_stats()["convolution"]["count"] == 1
