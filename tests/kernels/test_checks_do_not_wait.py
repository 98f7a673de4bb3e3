"""Checks of data on a GPU: operators do not wait for them; later synchronizations raise errors.

These tests use the emulated GPU, and expect the messages of the CPU vendor. Memory around every
allocation is protected, so that an unchecked invalid index would end the process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cffi import FFI

from diopi_proto import Generator, OperatorError, Tensor, Vendor, load_vendor
from diopi_proto.host.cabi import ffi
from diopi_proto.host.handle_ops import handle_ops
from dl_vendor_cpu.plugin import dl_vendor

# These tests do not use torch's device, so one of the two runs is enough.
pytestmark = pytest.mark.vendor("cpu")

FLOOR = "RoundModeFloor"
MEAN, NONE = "ReductionMean", "ReductionNone"
BIG = 1 << 40


@pytest.fixture
def gpu(library: Path) -> Iterator[Vendor]:
    with load_vendor(library) as opened:
        yield opened


@pytest.fixture(scope="module")
def cpu() -> Iterator[Vendor]:
    with load_vendor(dl_vendor().library) as opened:
        yield opened


class Fetches:
    """Counter of the operators that wait for the device, from now on."""

    def __init__(self, library: Path) -> None:
        functions = FFI()
        functions.cdef("uint64_t emulated_gpu_fetches(void);")
        self._library = functions.dlopen(str(library))
        self._before = int(self._library.emulated_gpu_fetches())

    def count(self) -> int:
        return int(self._library.emulated_gpu_fetches()) - self._before


@contextmanager
def without_words() -> Iterator[None]:
    """Return a host without the error words, as older hosts are."""
    ops = handle_ops()
    size = ops.struct_size
    ops.struct_size = ffi.offsetof("dl_handle_ops_t", "device_error")
    try:
        yield
    finally:
        ops.struct_size = size


class Call:
    """A call of an operator on a vendor, with tensors from arrays."""

    def __init__(self, vendor: Vendor, **how: Any) -> None:
        self.vendor, self.how = vendor, how

    def ints(self, *values: Any) -> Tensor:
        return self.vendor.tensor(np.array(values, np.int64))

    def floats(self, *shape: int, dtype: str = "float32") -> Tensor:
        count = int(np.prod(shape))
        return self.vendor.tensor((np.arange(count).reshape(shape) / max(count, 1)).astype(dtype))

    def of(self, *values: Any, dtype: str = "float32") -> Tensor:
        return self.vendor.tensor(np.array(values, dtype))

    def strided(self, tensor: Tensor) -> Tensor:
        """Return the same elements, with the last two dimensions swapped in memory."""
        return self.vendor.tensor(
            np.ascontiguousarray(tensor.numpy().swapaxes(-1, -2)).swapaxes(-1, -2)
        )

    def __call__(self, name: str, *arguments: Any) -> Any:
        return self.vendor.call(f"diopi{name}", *arguments, **self.how)

    def generator(self) -> Any:
        return Generator(1)


# The wrong value is in the middle, so that threads of its block and of other blocks pass it, and
# occurs twice, so that the reported position is not accidental.
MANY = [0, 1, 2] * 30 + [5, -7, BIG] + [2] * 70


CASES: dict[str, Callable[[Call], Any]] = {
    "index_select": lambda c: c("IndexSelect", c.floats(163, 4), c.floats(3, 4), 0, c.ints(*MANY)),
    "index_select of many": lambda c: c(
        "IndexSelect", c.floats(40000), c.floats(3), 0, c.ints(*[1] * 39990, *[-1] * 3, *[5] * 7)
    ),
    "index_select of a negative index": lambda c: c(
        "IndexSelect", c.floats(3, 3), c.floats(3, 2), 1, c.ints(1, -1, -2)
    ),
    "index_select of strided tensors": lambda c: c(
        "IndexSelect", c.strided(c.floats(3, 4)), c.strided(c.floats(3, 2)), 1, c.ints(1, 2, 0, 9)
    ),
    "index_select of int32": lambda c: c(
        "IndexSelect", c.floats(2), c.floats(3), 0, c.of(0, 3, dtype="int32")
    ),
    "gather": lambda c: c("Gather", c.floats(1, 163), c.floats(2, 3), 1, c.ints(MANY)),
    "gather with a strided index": lambda c: c(
        "Gather", c.floats(2, 2), c.floats(2, 3), 1, c.strided(c.ints([0, 4], [1, BIG]))
    ),
    "scatter": lambda c: c(
        "Scatter", c.floats(2, 3), c.floats(2, 3), 1, c.floats(2, 2), c.ints([0, 3], [1, -1]), ""
    ),
    "scatter of sums": lambda c: c(
        "ScatterInp", c.floats(3), 0, c.floats(163), c.ints(*MANY), "add"
    ),
    "scatter of a number": lambda c: c("ScatterInpScalar", c.floats(3), 0, 2.0, c.ints(*MANY), ""),
    "index_fill from the end": lambda c: c(
        "IndexFillInpScalar", c.floats(3, 2), 0, c.ints(-4), 1.0
    ),
    "index": lambda c: c("Index", c.floats(3, 4), [c.ints(*MANY)]),
    "index from the end": lambda c: c("Index", c.floats(3, 4), [None, c.ints(-1, -5)]),
    "index of two": lambda c: c("Index", c.floats(3, 4), [c.ints(0, 3), c.ints([2], [1])]),
    "index_put": lambda c: c("IndexPutInp", c.floats(3, 4), c.floats(2, 4), [c.ints(2, 3)], False),
    "index_put of sums": lambda c: c(
        "IndexPutInp", c.floats(3, 4), c.floats(2), [c.ints(2, 1), c.ints(0, -BIG)], True
    ),
    "embedding": lambda c: c(
        "Embedding", c.floats(163, 4), c.floats(3, 4), c.ints(*MANY), -1, False, False
    ),
    "gradient of embedding": lambda c: c(
        "EmbeddingBackward", c.floats(3, 4), c.floats(163, 4), c.ints(*MANY), 3, -1, False, False
    ),
    "gradient of embedding by frequency": lambda c: c(
        "EmbeddingBackward", c.floats(3, 4), c.floats(163, 4), c.ints(*MANY), 3, 1, True, False
    ),
    "embedding renormed": lambda c: c("EmbeddingRenorm_", c.floats(3, 4), c.ints(*MANY), 0.1, 2.0),
    "nll_loss": lambda c: c(
        "NLLLossV2", c.of(0.0), c.of(0.0), c.floats(163, 3), c.ints(*MANY), c.floats(3), MEAN, 2
    ),
    "nll_loss of each": lambda c: c(
        "NLLLoss", c.floats(163), c.floats(163, 3), c.ints(*MANY), None, NONE, -100
    ),
    "gradient of nll_loss": lambda c: c(
        "NLLLossBackward",
        *(c.floats(163, 3), c.of(1.0), c.floats(163, 3), c.ints(*MANY), None, MEAN, -100),
    ),
    "integer division": lambda c: c("Div", c.ints(1, 2), c.ints(3, 4), c.ints(1, 0), FLOOR),
    "integer division in place": lambda c: c("DivInp", c.ints(*MANY), c.ints(*MANY), FLOOR),
    "remainder": lambda c: c("RemainderTensor", c.ints(1, 2), c.ints(3, 4), c.ints(0, 2)),
    "remainder of a number": lambda c: c("Remainder", c.ints(1, 2), 5, c.ints(0, 2)),
    "binary_cross_entropy": lambda c: c(
        "BCELoss", c.of(0.0), c.of(0.5, 1.5), c.of(1.0, 0.0), None, MEAN
    ),
    "bernoulli": lambda c: c("Bernoulli", c.floats(4), c.of(0.5, 1.5, np.nan, -1.0), c.generator()),
    "bernoulli of NaN": lambda c: c("BernoulliInp", c.of(0.5, np.nan, np.inf), c.generator()),
    "normal": lambda c: c(
        "NormalScalarTensor", c.floats(3), 0.0, c.of(1.0, -0.25, -2.0), c.generator()
    ),
    "gradient of max_pool": lambda c: c(
        "AdaptiveMaxPool2dBackward",
        *(c.floats(1, 2, 4, 4), c.floats(1, 2, 2, 2), c.floats(1, 2, 4, 4)),
        c.ints([[[0, 2], [8, 16]], [[0, 2], [8, 10]]]),
    ),
    "prompts that begin after the end": lambda c: c(
        "ContextAttentionInference",
        *(c.floats(5, 2, 4) for _ in range(4)),
        *(c.ints(0, 4), c.ints(3, 2), 3),
    ),
    "scores that begin before the first": lambda c: c(
        "TokenAttentionInference",
        *(c.floats(2, 5), c.floats(1, 2, 4), c.floats(9, 2, 4)),
        *(c.ints([0, 1, 2]), c.ints(-4), c.ints(3), 3),
    ),
    "packed sequences of too many rows": lambda c: c(
        "MultiHeadAttentionVarLen",
        *(c.floats(5, 2, 4), c.floats(5, 2, 4), c.floats(5, 2, 4), c.ints(0, 2, BIG)),
        *(c.ints(0, 2, 5), 3, 3, 0.5, True, False, 0.3, c.floats(5, 2, 4), c.floats(2, 2, 3)),
        *(c.generator(), None),
    ),
    "gradients of packed sequences that fall": lambda c: c(
        "MultiHeadAttentionVarLenBackward",
        *(c.floats(5, 2, 4) for _ in range(5)),
        *(c.floats(3, 2, 4), c.ints(0, 2, 3, 5), c.ints(0, -3, 9, 5), 4, 4, 0.0, False, None, 0.3),
        *(c.floats(5, 2, 4) for _ in range(3)),
    ),
    "pages": lambda c: c(
        "PagedAttention",
        *(c.floats(2, 8), c.floats(2, 8), c.floats(4, 8), c.floats(4, 8), None, [4, 2], 2, 2, 4),
        *(c.ints([1, BIG], [-1, 0]), 2),
    ),
    "tokens that follow no sequence": lambda c: c(
        "FusedDecoderAttentionInp",
        *(c.floats(2, 8), c.floats(8, 16), None, None, 0, 0),
        *(c.floats(1, 2, 1, 5, 4), c.floats(1, 2, 1, 5, 4), c.of(False, False, dtype="bool")),
        *(c.ints(0, 0), c.ints(3, -1), 4, 0, 2, 1, 4, 5, 4, 10.0),
    ),
    **{
        f"multinomial {what}, {how}": (
            lambda c, row=row, replacement=replacement: c(
                "Multinomial",
                *(c.vendor.tensor(np.zeros((3, 2), np.int64)), c.of([0.5, 0.5, 0], row, row)),
                *(2, replacement, c.generator()),
            )
        )
        for what, row in {
            "of nothing": [0.0, 0.0, 0.0],
            "of a negative weight": [0.5, -0.5, 1.0],
            "of no number": [0.5, np.nan, 0.0],
            "of too much": [np.inf, 1.0, 1.0],
        }.items()
        for how, replacement in {"with replacement": True, "without": False}.items()
    },
}


def error_of(call: Callable[[], Any]) -> tuple[str, str]:
    with pytest.raises(OperatorError) as caught:
        call()
    return caught.value.operator, caught.value.reason


@pytest.mark.parametrize("case", CASES)
def test_the_call_returns_and_the_wait_reports_the_error_of_the_cpu(
    gpu: Vendor, cpu: Vendor, library: Path, case: str
) -> None:
    stream, other = gpu.stream(), gpu.stream()
    call = CASES[case]
    fetches = Fetches(library)
    kept = call(Call(gpu, stream=stream, synchronize=False))
    assert fetches.count() == 0, "the call waited"
    other.synchronize()
    assert error_of(stream.synchronize) == error_of(lambda: call(Call(cpu)))
    stream.synchronize()
    gpu.synchronize()
    del kept


@pytest.mark.parametrize("case", CASES)
def test_without_a_word_the_call_waits_and_fails(
    gpu: Vendor, cpu: Vendor, library: Path, case: str
) -> None:
    """Without an error word, checks wait; this also proves that the tests above detect waits."""
    fetches = Fetches(library)
    with without_words():
        said = error_of(lambda: CASES[case](Call(gpu, synchronize=False)))
    assert fetches.count() > 0
    assert said == error_of(lambda: CASES[case](Call(cpu)))


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_written_but_the_outputs(gpu: Vendor, case: str) -> None:
    gpu.guard_calls()
    error_of(lambda: CASES[case](Call(gpu)))


def test_two_streams_at_once_have_their_own_errors(gpu: Vendor, library: Path) -> None:
    streams = [gpu.stream() for _ in range(3)]
    fetches = Fetches(library)
    made = Call(gpu)
    out, one = made.ints(1), made.ints(1)
    divisors, source = [made.ints(0), made.ints(1), made.ints(0)], made.floats(1)
    for stream, divisor in zip(streams, divisors, strict=True):
        Call(gpu, stream=stream, synchronize=False)("Div", out, one, divisor, FLOOR)
    Call(gpu, stream=streams[2], synchronize=False)("Gather", source, source, 0, one)
    assert fetches.count() == 0
    streams[1].synchronize()
    for stream in (streams[2], streams[0]):
        operator, reason = error_of(stream.synchronize)
        assert operator == "diopiDiv" and "integer division by zero" in reason
    gpu.synchronize()


@pytest.mark.parametrize("name", ["IndexSelect", "Gather", "Embedding", "Index", "ScatterInp"])
def test_where_there_is_nothing_to_read_the_call_fails_at_once(gpu: Vendor, name: str) -> None:
    """No valid position exists that could replace an invalid one."""
    call = Call(gpu, synchronize=False)
    nothing, index, out = call.floats(0), call.ints(0), call.floats(1)
    arguments: dict[str, tuple[Any, ...]] = {
        "IndexSelect": (out, nothing, 0, index),
        "Gather": (out, nothing, 0, index),
        "Embedding": (call.floats(1, 2), call.floats(0, 2), index, -1, False, False),
        "Index": (nothing, [index]),
        "ScatterInp": (nothing, 0, out, index, ""),
    }
    assert error_of(lambda: call(name, *arguments[name]))[0] == f"diopi{name}"


def test_good_data_gives_what_it_gives_on_a_cpu(gpu: Vendor, cpu: Vendor, library: Path) -> None:
    def results(vendor: Vendor) -> list[Any]:
        call = Call(vendor, synchronize=False)
        x, at = call.floats(3, 4), call.ints(2, 0, 1, 2)
        outs = [call.floats(4, 4), call.floats(3, 4), call.floats(3), call.ints(0, 0, 0, 0)]
        call("IndexSelect", outs[0], x, 0, at)
        call("IndexSelect", call.strided(outs[1]), call.strided(x), 1, at)
        call("ScatterInp", outs[2], 0, call.floats(4), at, "amax")
        call("Div", outs[3], call.ints(7, -7, 7, -7), call.ints(2, 2, -2, -1), FLOOR)
        outs.append(call("Index", x, [call.ints(-1, 0), call.ints([3], [-4])]))
        return outs

    with_words = results(gpu)
    before = Fetches(library)
    results(gpu)
    assert before.count() == 0
    for ours, theirs in zip(with_words, results(cpu), strict=True):
        assert ours.numpy().tolist() == theirs.numpy().tolist()
