"""Out-of-memory errors have the wording that programs search for before they retry with less
memory.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.vendor("cpu")  # its process selects its own vendor

LIMITED = {"DL_VENDORS": "async", "DL_ASYNC_TEST_MEMORY": str(64 << 20)}

CODE = """
import torch
kept = torch.empty(40 << 20, dtype=torch.uint8, device="dl")
try:
    torch.empty(50 << 20, dtype=torch.uint8, device="dl")
except RuntimeError as error:
    assert type(error) is torch.OutOfMemoryError is torch.cuda.OutOfMemoryError
    assert len(error.args) == 1
    print(error.args[0])
"""


@pytest.fixture(scope="module")
def message() -> str:
    """Return the message of a device with 64 MiB for a request of 90."""
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, **LIMITED},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_has_the_form_of_other_devices(message: str) -> None:
    form = (
        r"DL out of memory\. Tried to allocate 50\.00 MiB\. Device dl:0 \(.*async.*\) has a total "
        r"capacity of 64\.00 MiB of which (\d+\.\d\d MiB|\d+ bytes) is free\. 40\.00 MiB is "
        r"allocated by tensors, 40\.00 MiB is reserved by dl\. .*smaller batch.*empty_cache"
    )
    assert re.match(form, message), message


LOOKED_FOR = {
    # In addition to RuntimeError with a single argument, which the fixture asserts.
    "accelerate, find_executable_batch_size": (" out of memory.",),
    "accelerate before 1.0": ("CUDA out of memory.",),
    "Lightning, is_oom_error": ("CUDA", "out of memory"),
    "a search in lower case": ("out of memory",),
}


@pytest.mark.parametrize("program", LOOKED_FOR)
def test_it_has_the_words_that_programs_look_for(program: str, message: str) -> None:
    assert all(words in message for words in LOOKED_FOR[program])
