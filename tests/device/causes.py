"""Causes of failures of device-generic tests, which the recorder writes next to new failures.

A cause is selected by the test and its message; the first match wins. Failures without a match are
written as unexplained, and a list with such a line is rejected until someone finds the cause and
adds it here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dl_torch_tests.opinfo.known_failures import Key

UNEXPLAINED = "unexplained: "


@dataclass(frozen=True)
class Cause:
    """A cause and the failures that it explains.

    :ivar said: regular expression that matches somewhere in the problem.
    :ivar test: regular expression that matches somewhere in ``name | kind | dtype``.
    :ivar everywhere: independent of the vendor that serves dl.
    """

    text: str
    said: str = ""
    test: str = ""
    everywhere: bool = False

    def explains(self, key: Key, problem: str) -> bool:
        return bool(re.search(self.test, " | ".join(key)) and re.search(self.said, problem))


CAUSES = (
    Cause(
        "torch's CPU (2.13) writes to out= in another order than out= has; dl does not",
        test=r"^(narrow_copy|nn\.functional\.avg_pool3d) \| out \|",
        everywhere=True,
    ),
    Cause(
        "torch's CPU (2.13) returns empty images as they are; dl gives them the shape of others",
        "shape is",
        r"^nn\.functional\.pixel_(un)?shuffle \| sizes",
        everywhere=True,
    ),
    Cause(
        "an index out of range is an IndexError on dl, the CPU fails an internal check",
        "raises IndexError",
        r"^narrow_copy \| errors",
        everywhere=True,
    ),
    Cause(
        "torch's CPU (2.13) rounds the exponents of logspace to integers first; dl does not",
        r"int\d+ elements differ",
        r"^logspace",
        everywhere=True,
    ),
    Cause(
        "torch saves no tensors that share memory in two dtypes, on no device",
        "view the same data as different types",
        everywhere=True,
    ),
    Cause(
        "the sample has tensors on meta, which these tests cannot copy",
        'on different device "meta"',
        everywhere=True,
    ),
    Cause(
        "autocast hands 16-bit products to linalg.qr, which has no such kernel; the CPU's keeps it "
        "in float32",
        "linalg_qr cannot run",
        r"^(pca|svd)_lowrank \| autocast",
    ),
    Cause(
        "exponents around 10000 are rounded by 1e-12",
        test=r"^logcumsumexp \| (backward|gradgrad) \| float64",
    ),
    Cause(
        "torch keeps ASGD's eta and mu in float32: float64 sees how they are rounded",
        test=r"^optim\.ASGD\[.* \| float64",
        everywhere=True,
    ),
    Cause(
        "torch's trigamma and polygamma (2.13) have 7 to 10 digits",
        test=r"^(mvlgamma|lgamma|digamma).* \| (backward|gradgrad) \| float64"
        r"|^(special\.)?polygamma\.",
    ),
    Cause(
        "torch's Bessel and Airy functions (2.13) have 5 to 8 digits",
        test=r"^special\.(bessel|airy|scaled_modified_bessel|modified_bessel)",
    ),
    Cause(
        "torch's Bessel functions of order 0 and 1 (2.13) are two or three roundings off",
        test=r"^special\.i[01]e? \| (backward|gradgrad) \| float64",
    ),
    Cause(
        "torch's incomplete gamma functions (2.13) are some roundings off",
        test=r"^(special\.)?(igamma|gammainc)",
    ),
    Cause(
        "the gradient of a norm of one element is 0, but for rounding",
        test=r"^nn\.functional\.rms_norm \| backward \| complex",
    ),
    Cause(
        "torch's CPU has no kernel for the dtype; the vendor has one",
        r"does not raise, the CPU does: .*not implemented for",
    ),
    Cause(
        "the learning rate in a tensor is a float32: float64 sees how it is rounded",
        test=r"\| tensor-lr \| float64",
        everywhere=True,
    ),
    Cause(
        "a transposed argument gives a transposed result, where the CPU's is contiguous",
        "transposed: output 0: strides is",
        r"^angle \| layouts \| complex",
    ),
    Cause(
        "refused under autocast, as on other accelerators; the CPU's autocast takes it",
        "unsafe to autocast",
        everywhere=True,
    ),
    Cause(
        "a line search that rounds otherwise ends after another number of steps",
        "the result is TreeSpec",
        r"^optim\.LBFGS\[strong_wolfe",
    ),
    Cause(
        "torch's CPU fails an assertion of its own, dl computes",
        r"does not raise, the CPU does: .*INTERNAL ASSERT",
    ),
    Cause(
        "16-bit products of products: the rounding of one is carried on by the next",
        "differ",
        r"^nn\.functional\.multi_head_attention_forward \| autocast",
    ),
    Cause(
        "one value in a row: the gradient is 0",
        test=r"^nn\.functional\.normalize \| (backward|gradgrad)",
    ),
    Cause(
        "torch's weights are rounded more than the vendor's",
        test=r"^nn\.functional\.(upsample|interpolate).* float64",
    ),
    Cause(
        "equal values in a channel: the deviation from their mean is a rounding error",
        r"expanded: .*differ",
        r"[nN]orm.* \| (module-)?layouts",
    ),
    Cause(
        "of a matrix of rank 1: everything except its one singular value is a rounding error",
        r"expanded: ",
        r"^((svd|pca)_lowrank|linalg\.pinv\.hermitian) \| layouts",
    ),
    Cause(
        "of a matrix whose rows are equal: what is left of its factors is rounding",
        r"expanded: ",
        r"^((linalg\.)?(cholesky_(ex|inverse)|lu(_factor_ex)?|qr|tensorinv)|triangular_solve)"
        r" \| layouts",
    ),
    Cause(
        "torch's matrix exponential in float64 is rounded as much as the vendor's",
        "differ",
        r"^matrix_exp \| layouts \| float64",
    ),
    Cause(
        "the CPU refuses a tensor that is not contiguous, dl takes it",
        r"does not raise, the CPU does: .*contiguous",
    ),
    Cause(
        "which of equal elements it names is left open, and the vendor names another than the CPU",
        r"int64 elements differ",
        r"^(arg)?sort|^topk|^kthvalue|^(nan)?median|^mode|^msort|^cum(max|min)|^arg(max|min)",
    ),
    Cause(
        "which of equal elements it names is left open, and the vendor names another than the CPU",
        r"float16: .* differ",
        r"^(m?sort|topk|kthvalue|(nan)?median|mode|cum(max|min)).* \| (backward|layouts|autocast) ",
    ),
    Cause(
        "the exact gradient is 0, and the CPU's happens to be rounded less than the vendor's",
        r"off by \d\.\de-(1[4-9]|[2-9]\d),",
        r"(backward|gradgrad) \| float64",
    ),
    Cause(
        "two values in a channel: the gradient is 0 but for eps",
        r"off by \d\.\de-0[789],",
        r"batch_norm.* \| backward \| float32",
    ),
    Cause("the CPU's 1/6 is a float32", test=r"^nn\.functional\.hardsigmoid.* float64"),
    Cause(
        "the gradients of both biases are one tensor, as on other accelerators",
        "shares memory",
        r"^nn\.(LSTM|GRU|RNN).*-backward",
    ),
    Cause(
        "torch compares no complex32 on the CPU: what is drawn is not judged",
        "not implemented for 'ComplexHalf'",
        everywhere=True,
    ),
    Cause(
        "the gradient has the CPU's values, and other strides",
        "strides is",
        r"\| backward \|",
    ),
    Cause(
        "computed in float32: no wider reference",
        "no float64 reference",
        r"^masked\.(std|var) ",
    ),
    Cause(
        "sums in 16 bits, where the CPU's are wider",
        test=r"^nn\.functional\.linear_cross_entropy.* b?float16$",
    ),
)


def explain(key: Key, problem: str) -> Cause:
    """Return the cause of a failure."""
    line = problem.splitlines()[0].replace("|", "/")
    said = Cause(UNEXPLAINED + line[:160])
    return next((cause for cause in CAUSES if cause.explains(key, problem)), said)
