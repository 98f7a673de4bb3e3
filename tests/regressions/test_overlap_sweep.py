"""Every operator that writes to an argument, with every way of sharing that argument's memory.

dl rejects what torch's CPU rejects; otherwise dl's result equals its result for separate
tensors. The list of exceptions is strict, and each has its cause.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from opinfo.derived_calls import operator, packet_of
from opinfo.recording import recordings

from .overlap import Outcome, Shared, apart, calls, equal, outcome, ways_of_sharing

# Many operators of torch emit deprecation warnings.
pytestmark = pytest.mark.filterwarnings("ignore")

REFUSAL = "unsupported operation"

NO_CALL = ("set_", "resize_", "_resize_", "as_strided_", "rename_")
"""Operators that change a tensor's memory, not its contents."""

OPEN_VALUES = ("empty", "new_empty", "_ctc_loss", "_to_sparse")
"""Operators whose results are partly uninitialized, or whose elements share memory."""

UNSAFE = ("_convert_indices_from_", "_fused_adagrad_.tensor_lr")
"""Operators in which torch's CPU reads its own results back, and therefore writes out of bounds.
"""

AT_ONCE = ("_fused_",)
"""Operators that process several tensors of a list at once: the effect on each other is
unspecified."""

REPEATS_TOLERATED = (
    "fill_",
    "zero_",
    "masked_fill_",
    "index_fill_",
    "index_put_",
    "_index_put_impl_",
)
"""Operators that write to expanded tensors as well; torch warns if the result may depend on the
order."""


def overloads() -> list[str]:
    """Return all overloads that write, by schema."""
    found = []
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        overload = name.removeprefix("aten::")
        if overload == name or overload.startswith((*NO_CALL, *OPEN_VALUES, *UNSAFE)):
            continue
        try:
            schema = operator(overload)._schema
        except AttributeError:  # defined by TorchScript
            continue
        if any(a.alias_info is not None and a.alias_info.is_write for a in schema.arguments):
            found.append(overload)
    return found


def problems(overload: str) -> Iterator[str]:
    for bound in calls(overload):
        alone = outcome(overload, bound, "dl")
        if alone.error is not None or outcome(overload, bound, "cpu").error is not None:
            continue
        for shared in ways_of_sharing(overload, bound):
            if overload.startswith(AT_ONCE) and shared.between_items:
                continue
            problem = problem_of(overload, shared)
            if problem is not None:
                yield f"{shared}: {problem}"


def problem_of(overload: str, shared: Shared) -> str | None:
    got = outcome(overload, shared.bound, "dl")
    if not shared.has_right_result:
        if _is_refusal(got):
            return None
        tolerated = shared.read is None and packet_of(overload) in REPEATS_TOLERATED
        if has_kernel(overload) and not tolerated:
            # Torch's CPU often computes anyway, and sometimes writes out of bounds.
            return f"{_describe(got)}, want a refusal"
    cpu = outcome(overload, shared.bound, "cpu")
    if cpu.error is not None and (_is_refusal(cpu) or got.error is not None):
        same = got.error is not None and isinstance(got.error, type(cpu.error))
        return None if same else f"{_describe(got)}, the CPU raises {cpu.error}"
    if got.error is not None:
        return f"{_describe(got)}, the CPU computes"
    want = outcome(overload, apart(shared.bound), "dl")
    if want.error is not None and cpu.error is not None:
        return None  # shared tensors are copied into the layout that the kernel needs
    assert want.error is None
    if shared.has_right_result and equal(got, want):
        return None
    # Composite operators, and operators that process a list one by one, give the same result as on
    # the CPU.
    as_cpu = shared.among_lists or not has_kernel(overload) or not shared.has_right_result
    return None if as_cpu and equal(got, cpu) else "the result is wrong"


def has_kernel(overload: str) -> bool:
    """Return True if dl computes it; otherwise torch composes it of other operators, whose calls
    are checked."""
    name = f"aten::{overload}"
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    composed = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")
    return has(name, "PrivateUse1") or not any(has(name, key) for key in composed)


def _is_refusal(got: Outcome) -> bool:
    return isinstance(got.error, RuntimeError) and REFUSAL in str(got.error)


def _describe(got: Outcome) -> str:
    if got.error is None:
        return "computes"
    return f"raises {type(got.error).__name__}: {str(got.error).splitlines()[0]}"


@pytest.fixture(scope="module", autouse=True)
def _calls() -> Iterator[None]:
    """Record the calls before a test's timeout starts."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    recordings()
    yield
    torch.set_num_threads(threads)


@pytest.mark.sampled
@pytest.mark.parametrize("overload", overloads())
def test_shared_memory_is_refused_or_right(overload: str) -> None:
    found = list(problems(overload))
    assert not found, "\n".join(found[:8])
