"""Autocast on dl equals CUDA's: the same lists and dtypes, and no effect on other operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
import torch
from opinfo.derived_calls import caller, calls_of
from opinfo.recording import recordings
from torch.nn import functional
from torch.testing._internal.autocast_test_lists import AutocastTestLists, TestAutocast

from dl_torch_tests.opinfo.fixtures import one_thread
from dl_torch_tests.opinfo.operators import WITHOUT_VALUES

from .programs import registered, tensors_in

__all__ = ["one_thread"]

CUDNN = {"cudnn_convolution", "cudnn_convolution_transpose"}
"""Operators that exist only with cuDNN."""
WITHOUT_ARGUMENTS = {"einsum"}
"""Torch's list has no suitable arguments; its own test skips the entry."""
LEFT_TO_THEIR_PARTS = {"_native_multi_head_attention", "_transformer_encoder_layer_fwd"}
"""Composite operators, of which torch calls only the parts under CUDA's autocast."""

ADDED = {"norm"}
"""A device with many threads sums half precision in another order than the float32 that it is cast
to."""

DTYPES = (torch.float16, torch.bfloat16)


def listed(device: str) -> set[str]:
    """Return the overloads that autocast handles for a device, according to the dispatcher."""
    names = torch._C._dispatch_get_registrations_for_dispatch_key(f"Autocast{device}")
    return {name.removeprefix("aten::") for name in names}


def test_the_lists_are_those_of_cuda() -> None:
    assert listed("PrivateUse1") == listed("CUDA") - CUDNN


def cases(lists: dict[str, Any]) -> list[Any]:
    """Return the list and index of each entry of torch's lists."""
    test_lists = AutocastTestLists("cpu")
    return [
        pytest.param(name, at, id=f"{name}-{at}-{entry[0]}")
        for name in lists
        for at, entry in enumerate(getattr(test_lists, name))
        if entry[0] not in CUDNN | WITHOUT_ARGUMENTS
    ]


LOWER: dict[str, Any] = {
    "torch_fp16": torch,
    "nn_fp16": torch._C._nn,
    "linalg_fp16": torch._C._linalg,
    "methods_fp16": None,
}
WIDER: dict[str, Any] = {"torch_fp32": torch, "nn_fp32": torch._C._nn, "methods_fp32": None}
PROMOTED: dict[str, Any] = {
    "torch_need_autocast_promote": torch,
    "torch_expect_builtin_promote": torch,
    "methods_expect_builtin_promote": None,
}


def entry(name: str, at: int) -> tuple[str, Any, dict[str, Any], torch.dtype | None]:
    """Return operator, arguments, keywords, and the dtype if torch's list has one."""
    torch.manual_seed(0)
    op, args, *rest = getattr(AutocastTestLists("dl"), name)[at]
    kwargs = next((each for each in rest if isinstance(each, dict)), {})
    return op, args, kwargs, next((each for each in rest if isinstance(each, torch.dtype)), None)


class Runner(TestAutocast):
    """Torch's own test of one entry: the dtype of the result, and equality with explicit casts.

    The test compares bits, and the function with the method of the same name.
    """

    def runTest(self) -> None:  # noqa: N802 - unittest's name
        """Required by unittest."""


def check(op: str, args: Any, kwargs: Any, module: Any, amp: Any, run_as: Any, out: Any) -> None:
    if op in ADDED and torch.dl.get_device_properties(0).vendor != "cpu":
        with patch.object(torch, "equal", torch.allclose):
            run(op, args, kwargs, module, amp, run_as, out)
    else:
        run(op, args, kwargs, module, amp, run_as, out)


def run(op: str, args: Any, kwargs: Any, module: Any, amp: Any, run_as: Any, out: Any) -> None:
    Runner()._run_autocast_outofplace(
        op, args, run_as, "dl", out, module=module, add_kwargs=kwargs, amp_dtype=amp
    )


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("amp", DTYPES, ids=str)
@pytest.mark.parametrize(("name", "at"), cases(LOWER))
def test_what_cuda_runs_in_the_lower_precision(name: str, at: int, amp: torch.dtype) -> None:
    op, args, kwargs, _ = entry(name, at)
    check(op, args, kwargs, LOWER[name], amp, amp, None)


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize(("name", "at"), cases(WIDER))
def test_what_cuda_runs_in_float32(name: str, at: int) -> None:
    op, args, kwargs, _ = entry(name, at)
    check(op, args, kwargs, WIDER[name], torch.float16, torch.float32, None)


# Some emit deprecation warnings.
@pytest.mark.filterwarnings("ignore:(?s).*deprecated")
@pytest.mark.parametrize(("name", "at"), cases(PROMOTED))
def test_what_cuda_runs_in_the_widest_of_the_arguments(name: str, at: int) -> None:
    op, args, kwargs, out = entry(name, at)
    check(op, args, kwargs, PROMOTED[name], torch.float16, torch.float32, out)


@pytest.mark.parametrize(("name", "at"), cases({"banned": None}))
def test_what_cuda_refuses(name: str, at: int) -> None:
    op, args, module = getattr(AutocastTestLists("dl"), name)[at]
    with torch.autocast("dl"), pytest.raises(RuntimeError, match="unsafe to autocast"):
        getattr(module, op)(*args)


def test_a_sum_in_a_dtype_of_its_own_keeps_it() -> None:
    x = torch.ones(4, dtype=torch.bfloat16, device="dl")
    with torch.autocast("dl"):
        assert torch.sum(x, dtype=torch.float64).dtype == torch.float64
        assert torch.softmax(x, 0, dtype=torch.bfloat16).dtype == torch.bfloat16


def test_cross_entropy_is_computed_by_its_parts() -> None:
    """As on the CPU, only parts run in float32: torch computes the softmax in the scores' dtype."""
    scores = torch.randn(3, 5, device="dl", dtype=torch.bfloat16)
    target = torch.tensor([0, 4, 2], device="dl")
    with torch.autocast("dl"):
        loss = functional.cross_entropy(scores, target)
    assert loss.dtype == torch.float32
    assert torch.equal(loss, functional.nll_loss(scores.log_softmax(1).float(), target))


@pytest.fixture(scope="session")
def _recorded() -> None:
    """Record the calls before a test's timeout starts."""
    recordings()


def unlisted() -> list[str]:
    if not hasattr(torch, "dl") or not torch.dl.is_available():
        return []
    left = listed("CUDA") | LEFT_TO_THEIR_PARTS
    # Torch's CPU leaves the second result uninitialized after the end of a sequence.
    without_values = WITHOUT_VALUES | {"_ctc_loss"}
    return [
        name
        for name in registered()
        if name not in left and name.partition(".")[0] not in without_values
    ]


@pytest.mark.vendor("cpu")  # the lists belong to dl-core, and recording the calls takes a minute
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("_recorded")
def test_operators_on_no_list_are_left_alone() -> None:
    """A composed operator on the lists is handled like one with a kernel.

    One test for all: most take a millisecond.
    """
    changed = []
    for overload in unlisted():
        function: Callable[..., Any] = caller(overload)
        for call in calls_of(overload)[:2]:
            plain, cast = call.arguments("dl"), call.arguments("dl")
            try:
                torch.manual_seed(0)
                want = tensors_in((function(plain), plain))
            except RuntimeError:
                continue  # some recorded calls do not fit every form
            torch.manual_seed(0)
            with torch.autocast("dl", dtype=torch.bfloat16):
                got = tensors_in((function(cast), cast))
            same = [
                a.dtype == b.dtype
                and torch.allclose(a.to_dense(), b.to_dense(), 1e-5, 1e-6, equal_nan=True)
                for a, b in zip(got, want, strict=True)
            ]
            if not all(same):
                changed.append(overload)
    assert not changed
