"""Sizes beyond memory or the range of integers are rejected at once, for every parameter.

They run in another process: the errors that they guard against crashed it, or made it hang.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import torch
import torch.nn.functional as F
device = "dl"
def ones(*sizes):
    return torch.ones(sizes, device=device)
for line in sys.stdin:
    try:
        result = eval(line)
    except (RuntimeError, ValueError) as error:
        print("refused:", " ".join(str(error).split()), flush=True)
    else:
        print("made:", getattr(result, "shape", result), flush=True)
"""

REFUSED = {
    # Storage: a negative number of bytes wrapped to a huge one, or was stored.
    "ones(5).untyped_storage().resize_(-6)": "-6",
    "torch.UntypedStorage(-5, device=device)": "-5",
    # Products that overflowed to 0 were used as divisors.
    "F.pixel_shuffle(ones(1, 4, 2, 2), 2**32)": "upscale factor is too large",
    "F.pixel_shuffle(ones(1, 4, 2, 2), 2**40)": "upscale factor is too large",
    "F.pixel_shuffle(ones(1, 4, 2, 2), 3037000500)": "upscale factor is too large",
    "F.pixel_unshuffle(ones(1, 4, 0, 0), 2**40)": "overflow",
    "F.fold(ones(1, 4, 16), 5, 2**32, padding=2**31)": "overflow",
    "F.fold(ones(1, 4, 16), 5, (2**62, 4), padding=(2**61, 2))": "overflow",
    "F.unfold(ones(1, 1, 5, 5), 2**33, padding=2**32)": "overflow",
    "F.unfold(ones(1, 1, 5, 5), 2**33)": "overflow",
    "F.fold(ones(1, 4, 16), 5, 2, padding=2**33)": "overflow",
    # Tables and comparisons as long as a result that is too large.
    "F.interpolate(ones(1, 1, 5, 5), size=2**33)": "overflow",
    "F.interpolate(ones(1, 1, 5, 5), size=2**40)": "overflow",
    "F.interpolate(ones(1, 1, 5), size=2**40)": "out of memory",
    "F.interpolate(ones(1, 1, 5), size=2**40, mode='nearest-exact')": "out of memory",
    "F.interpolate(ones(1, 1, 5), size=2**40, mode='linear')": "out of memory",
    "F.interpolate(ones(1, 1, 5), scale_factor=2.0**40, mode='linear')": "out of memory",
    "F.interpolate(ones(1, 1, 5, 5), size=(2**40, 1), mode='bilinear')": "out of memory",
    "F.interpolate(ones(1, 1, 5, 5), size=(2**40, 1), mode='bicubic')": "out of memory",
    "F.interpolate(ones(1, 1, 5, 5), size=(1, 2**40), mode='bicubic', antialias=True)": "out of",
    "F.interpolate(ones(1, 1, 5, 5, 5), size=2**40, mode='trilinear')": "overflow",
    "F.interpolate(ones(1, 1, 5, 5, 5), size=(1, 2**40, 1))": "out of memory",
    "torch.ops.aten.upsample_nearest1d_backward(ones(1, 1, 4), [4], [1, 1, 2**40], None)": "out of",
    "torch.ops.aten._upsample_bilinear2d_aa_backward("
    "ones(1, 1, 4, 4), [4, 4], [1, 1, 2**40, 1], False, None, None)": "out of memory",
    # Windows counted in 32 bits.
    "F.avg_pool1d(ones(1, 1, 5), 2**40)": "without overflow",
    "F.avg_pool2d(ones(1, 1, 5, 5), 2**40)": "without overflow",
    "F.avg_pool2d(ones(1, 1, 5, 5), 2, stride=2**40)": "without overflow",
    "F.avg_pool2d(ones(1, 1, 5, 5), 2**33, padding=2**32, stride=1)": "without overflow",
    "F.avg_pool3d(ones(1, 1, 5, 5, 5), 2, stride=2**40)": "without overflow",
    "F.max_pool2d(ones(1, 1, 5, 5), 2**40)": "without overflow",
    "F.max_pool2d(ones(1, 1, 5, 5), 2, dilation=2**33)": "without overflow",
    "F.max_pool2d(ones(1, 1, 5, 5), 2**33, padding=2**32, stride=1)": "without overflow",
    "F.max_pool2d(ones(1, 1, 5, 5), 2**17 + 1, dilation=2**16, stride=1)": "is larger than",
    "F.max_pool3d(ones(1, 1, 5, 5, 5), 2**40)": "without overflow",
    "torch.arange(0, -(2**63), -1, device=device)": "overflow",
    # Sizes that wrapped to small ones: results were written out of bounds.
    "F.conv_transpose2d(ones(1, 1, 3, 3), ones(1, 1, 3, 3), stride=2**63 - 1)": "overflowed",
    "F.conv_transpose3d(ones(1, 1, 3, 3, 3), ones(1, 1, 3, 1, 1), dilation=2**63-1)": "overflowed",
    "F.conv_transpose1d(ones(1, 1, 4), ones(1, 1, 4), padding=2**63 - 1)": "overflowed",
    "F.conv2d(ones(1, 1, 5, 5), ones(1, 1, 3, 3), dilation=2**63 - 1, padding=4)": "overflowed",
    "F.conv2d(ones(1, 1, 5, 5), ones(1, 1, 3, 3), padding=2**62 + 2)": "overflowed",
    "F.pad(ones(2, 3), (2**63 - 1, 2**63 - 1))": "overflowed",
    "F.pad(ones(1, 2, 3), (2**63 - 1, 2**63 - 1), mode='replicate')": "overflowed",
}

MADE = {
    "F.pixel_shuffle(ones(1, 4, 1, 1), 2)": "torch.Size([1, 1, 2, 2])",
    "F.interpolate(ones(0, 1, 5), size=2**40)": f"torch.Size([0, 1, {2**40}])",
    "F.interpolate(ones(0, 1, 5), size=2**40, mode='linear')": f"torch.Size([0, 1, {2**40}])",
    # A user-defined scale that overflows every integer: the last cell.
    "torch.ops.aten.upsample_nearest1d("
    "torch.arange(3.0, device=device).view(1, 1, 3), [2], 1e-300).tolist()": "[[[0.0, 2.0]]]",
    "torch.ops.aten._upsample_bilinear2d_aa("
    "ones(1, 1, 5, 5), [1, 1], False, 1e-9, 1e-9).tolist()": "[[[[1.0]]]]",
}


pytestmark = pytest.mark.vendor("cpu")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    """Return the outcome of each call, up to a crash of the process."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input="\n".join([*REFUSED, *MADE]),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        output = done.stdout
    except subprocess.TimeoutExpired as error:
        output = (error.stdout or b"").decode()
    return dict(zip([*REFUSED, *MADE], output.splitlines(), strict=False))


@pytest.mark.parametrize("expression", REFUSED)
def test_it_is_refused(expression: str, outcomes: dict[str, str]) -> None:
    text = outcomes.get(expression, "the process ended before or at this call")
    assert text.startswith("refused:") and REFUSED[expression] in text, text


@pytest.mark.parametrize("expression", MADE)
def test_it_is_made_where_it_can_be(expression: str, outcomes: dict[str, str]) -> None:
    text = outcomes.get(expression, "the process ended before or at this call")
    assert text == f"made: {MADE[expression]}"
