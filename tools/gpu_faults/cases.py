"""Calls that show a fault: each creates tensors, calls an operator and returns its results.

The same calls run on the simulated GPU, on the emulated GPU and on the CPU vendor, which computes
the expected results. They are as small as their fault allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from diopi_proto import Generator, Tensor, Vendor

Result = Sequence[Tensor]
NONE, MEAN = "ReductionNone", "ReductionMean"


class Make:
    """Tensors of a vendor, with the same values on every vendor."""

    def __init__(self, vendor: Vendor) -> None:
        self.vendor = vendor
        self.random = np.random.default_rng(7)

    def of(self, values: npt.ArrayLike, dtype: str = "int64") -> Tensor:
        return self.vendor.tensor(np.asarray(values, dtype))

    def floats(self, *shape: int, dtype: str = "float32") -> Tensor:
        return self.vendor.tensor(self.random.standard_normal(shape).astype(dtype))

    def ints(self, below: int, *shape: int, dtype: str = "int64") -> Tensor:
        return self.vendor.tensor(self.random.integers(0, below, shape).astype(dtype))

    def out(self, *shape: int, dtype: str = "float32") -> Tensor:
        return self.vendor.empty(shape, dtype)

    def __call__(self, operator: str, *arguments: Any) -> Any:
        return self.vendor.call(operator, *arguments)


def sort(m: Make, rows: int, n: int) -> Result:
    values, indices = m.out(rows, n), m.out(rows, n, dtype="int64")
    m("diopiSort", values, indices, m.floats(rows, n), 1, False, True)
    return values, indices


def scatter(m: Make, count: int, dtype: str) -> Result:
    to = m.of(np.zeros(12), dtype)
    source = m.of(np.arange(count) % 3 + 1, dtype)
    m("diopiScatterInp", to, 0, source, m.of(np.arange(count) * 7 % 12), "add")
    return (to,)


def nonzero(m: Make, count: int) -> Result:
    return (m("diopiNonzero", m.of(np.arange(count) % 3 == 1, "bool")),)


def masked_select(m: Make, count: int) -> Result:
    return (m("diopiMaskedSelect", m.floats(count), m.of(np.arange(count) % 3 == 1, "bool")),)


def randperm(m: Make, n: int) -> Result:
    to = m.out(n, dtype="int64")
    m("diopiRandperm", to, n, Generator(3))
    return (to,)


def unfold(m: Make, padding: int) -> Result:
    side = 5 + 2 * padding - 2
    to = m.out(1, 2 * 9, side * side)
    m("diopiIm2Col", to, m.floats(1, 2, 5, 5), (3, 3), (1, 1), (padding, padding), (1, 1))
    return (to,)


def fold(m: Make) -> Result:
    to = m.out(1, 2, 6, 6)
    columns = m.floats(1, 2 * 4, 9)
    m("diopiCol2Im", to, columns, (6, 6), (2, 2), (1, 1), (0, 0), (2, 2))
    return (to,)


def resize(m: Make) -> Result:
    to = m.out(1, 2, 7, 5)
    m("diopiUpsampleLinear", to, m.floats(1, 2, 4, 3), (7, 5), False, "bilinear")
    return (to,)


def resize_back(m: Make) -> Result:
    to = m.out(1, 2, 4, 3)
    arguments = (m.floats(1, 2, 7, 5), (7, 5), (1, 2, 4, 3), False, "bilinear")
    m("diopiUpsampleLinearBackward", to, *arguments)
    return (to,)


def fft(m: Make, n: int) -> Result:
    to = m.out(2, n, dtype="complex64")
    m("dlopFft", to, m.floats(2, n, dtype="complex64"), 1, True, 1.0)
    return (to,)


def max_pool_back(m: Make) -> Result:
    x, y, places = m.floats(1, 2, 6, 6), m.out(1, 2, 3, 3), m.out(1, 2, 3, 3, dtype="int64")
    window = ((2, 2), (2, 2), (0, 0), (1, 1), False)
    m("diopiMaxPool2dWithIndices", y, places, x, *window)
    to = m.out(1, 2, 6, 6)
    m("diopiMaxPool2dBackward", to, m.floats(1, 2, 3, 3), x, *window, places)
    return y, places, to


def deformable_back(m: Make) -> Result:
    x, offsets, filters = m.floats(1, 2, 5, 5), m.floats(1, 18, 3, 3), m.floats(2, 2, 3, 3)
    to, to_offsets, columns = m.out(1, 2, 5, 5), m.out(1, 18, 3, 3), m.out(18, 9)
    sizes = (3, 3, 1, 1, 0, 0, 1, 1, 1, 1, 1)
    given = (x, offsets, m.floats(1, 2, 3, 3), filters, columns)
    m("diopiDeformConvBackwardInputMmcv", to, to_offsets, *given, *sizes)
    return to, to_offsets


def ctc(m: Make) -> Result:
    steps, samples, classes, length = 6, 2, 4, 2
    scores = m.random.standard_normal((steps, samples, classes))
    logs = m.of(scores - np.log(np.exp(scores).sum(-1, keepdims=True)), "float32")
    lengths = (m.of([6, 5]), m.of([2, 1]))
    targets = m.of([[1, 2], [3, 1]])
    loss, losses = m.out(), m.out(samples)
    alpha = m.out(samples, steps, 2 * length + 1)
    m("diopiCTCLoss", loss, losses, alpha, logs, targets, *lengths, 0, MEAN, False)
    to = m.out(steps, samples, classes)
    given = (m.of(1.0, "float32"), logs, targets, *lengths, losses, alpha)
    m("diopiCTCLossBackward", to, *given, 0, MEAN, False)
    return loss, losses, to


def cdist_back(m: Make) -> Result:
    a, b, to = m.floats(4, 3), m.floats(5, 3), m.out(4, 3)
    far = m.out(4, 5)
    m("diopiCdist", far, a, b, 2.0, None)
    m("diopiCdistBackward", to, m.floats(4, 5), a, b, 2.0, far)
    return far, to


def cdist_back_of_equal(m: Make) -> Result:
    a, to, far = m.floats(4, 3), m.out(4, 3), m.out(4, 4)
    m("diopiCdist", far, a, a, 2.0, None)
    m("diopiCdistBackward", to, m.floats(4, 4), a, a, 2.0, far)
    return far, to


def nms(m: Make) -> Result:
    corners = m.random.random((70, 2)) * 20
    boxes = m.of(np.concatenate([corners, corners + 4], 1), "float32")
    return (m("diopiNms", boxes, m.floats(70), 0.3),)


def multinomial(m: Make) -> Result:
    to = m.out(3, 40, dtype="int64")
    weights = m.of(m.random.random((3, 9)) + 0.1, "float32")
    m("diopiMultinomial", to, weights, 40, True, Generator(5))
    return (to,)


def unique(m: Make) -> Result:
    inverse = m.out(300, dtype="int64")
    return *m("diopiUnique", m.ints(40, 300), None, True, True, inverse), inverse


def average_back(m: Make) -> Result:
    to = m.out(1, 2, 6, 6)
    window = ((3, 3), (2, 2), (1, 1), False, True, None)
    m("diopiAvgPool2dBackward", to, m.floats(1, 2, 3, 3), m.floats(1, 2, 6, 6), *window)
    return (to,)


def gather_many(m: Make) -> Result:
    """Use more indices than one block of the bounds check processes."""
    to = m.out(20000)
    m("diopiIndexSelect", to, m.floats(50), 0, m.ints(50, 20000))
    return (to,)


def batch_norm(m: Make) -> Result:
    to, mean, invstd = m.out(4, 3, 5), m.out(3), m.out(3)
    running = (m.floats(3), m.of(m.random.random(3) + 0.5, "float32"))
    given = (m.floats(4, 3, 5), None, None)
    m("diopiBatchNorm", to, mean, invstd, *given, *running, True, 0.1, 1e-5)
    return to, mean, invstd, *running


def sample_tokens(m: Make) -> Result:
    """Draw among a few candidates without the sums that only `cum_log_probs` needs."""
    batch, vocabulary = 3, 50
    to, likelihoods = m.of(np.zeros((1, batch))), m.out(batch)
    ends, top_k = m.of([vocabulary - 1] * batch), m.of([4] * batch)
    top_p = m.of(np.ones(batch), "float32")
    generators = [Generator(seed) for seed in range(batch)]
    logits, step, fusion_level = m.floats(batch, vocabulary), 0, 0
    given = (None, 0, fusion_level, ends, None, None, step, vocabulary, top_k, top_p)
    m("diopiTopKSampling", to, logits, *given, None, None, likelihoods, generators)
    return to, likelihoods


CASES: dict[str, Callable[[Make], Result]] = {
    "sort of short rows": lambda m: sort(m, 3, 100),
    "sort of one row": lambda m: sort(m, 1, 100),
    "sort of few": lambda m: sort(m, 1, 40),
    "sort of long rows": lambda m: sort(m, 1, 2500),
    "scatter of sums": lambda m: scatter(m, 300, "float32"),
    "scatter of bytes": lambda m: scatter(m, 300, "uint8"),
    "nonzero": lambda m: nonzero(m, 100),
    "nonzero of pieces": lambda m: nonzero(m, 9000),
    "masked select": lambda m: masked_select(m, 9000),
    "randperm": lambda m: randperm(m, 200),
    "unfold": lambda m: unfold(m, 0),
    "unfold with borders": lambda m: unfold(m, 1),
    "fold": fold,
    "resize": resize,
    "gradient of resize": resize_back,
    "fft of 4 and 3": lambda m: fft(m, 12),
    "fft of 3, 3 and 5": lambda m: fft(m, 45),
    "gradient of max_pool": max_pool_back,
    "gradient of deformable convolution": deformable_back,
    "ctc": ctc,
    "gradient of cdist": cdist_back,
    "gradient of cdist of equal points": cdist_back_of_equal,
    "nms": nms,
    "multinomial": multinomial,
    "unique": unique,
    "gradient of avg_pool": average_back,
    "gather of many": gather_many,
    "batch_norm": batch_norm,
    "tokens of a language model": sample_tokens,
}
