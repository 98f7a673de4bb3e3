"""Copies between two devices with peer copies: not through the host, without waiting."""

from __future__ import annotations

from .processes import CONTROL, RUNS_ONCE, output

pytestmark = RUNS_ONCE

HEAD = (
    """
import torch
torch.dl.device_count()
torch.ones(1, device="dl:0")
"""
    + CONTROL
)


def run(code: str) -> str:
    return output(HEAD + code, DL_VENDORS="async")


def test_a_copy_returns_while_the_source_still_works() -> None:
    """A copy through the host would wait for the held stream forever."""
    said = run("""
x = torch.arange(12.0).reshape(3, 4).to("dl:0")
torch.dl.synchronize(0)
control.hold(0, 0)
x.neg_()
y = x.to("dl:1")
z = y + 1  # waits for the copy on its device, not here
assert y.device == torch.device("dl:1")
before = control.counters(0).items_executed
control.release(0, 0)
assert torch.equal(z.cpu(), 1 - torch.arange(12.0).reshape(3, 4))
assert torch.equal(y.cpu(), -torch.arange(12.0).reshape(3, 4))
assert control.counters(0).items_executed > before
print("done")
""")
    assert said.strip().endswith("done")


def test_the_destination_is_not_overwritten_before_it_was_read() -> None:
    said = run("""
x = torch.full((4,), 7.0).to("dl:0")
y = torch.full((4,), 2.0).to("dl:1")
torch.dl.synchronize(0)
torch.dl.synchronize(1)
control.hold(1, 0)
read = y * 1  # held: it has to see the twos
y.copy_(x)
control.release(1, 0)
assert read.cpu().tolist() == [2.0] * 4
assert y.cpu().tolist() == [7.0] * 4
print("done")
""")
    assert said.strip().endswith("done")


def test_layouts_dtypes_and_sizes_come_across() -> None:
    said = run("""
a = torch.arange(24.0).reshape(4, 6)
x = a.to("dl:0")
cases = {
    "transposed source": (x.t(), torch.zeros(6, 4)),
    "transposed target": (x, torch.zeros(6, 4).t()),
    "both": (x.t(), torch.zeros(4, 6).t()),
    "another dtype": (x, torch.zeros(4, 6, dtype=torch.int64)),
    "broadcast": (x[0], torch.zeros(4, 6)),
    "slice of the target": (x[:2], torch.zeros(8, 6)[::4]),
    "nothing": (x[:0], torch.zeros(0, 6)),
    "conjugate": (x.to(torch.complex64).conj(), torch.zeros(4, 6, dtype=torch.complex64)),
    "negative": (torch._neg_view(x), torch.zeros(4, 6)),
}
for name, (source, zeros) in cases.items():
    base = torch.empty_strided(zeros.size(), zeros.stride(), dtype=zeros.dtype)
    base = base.zero_()
    expected = base.clone().copy_(source.cpu())
    target = torch.empty_strided(zeros.size(), zeros.stride(), dtype=zeros.dtype, device="dl:1")
    target.copy_(source)
    assert torch.equal(target.cpu(), expected), name
print("done")
""")
    assert said.strip().endswith("done")


def test_streams_of_both_sides_are_kept_in_order() -> None:
    said = run("""
x = torch.zeros(4).to("dl:0")
torch.dl.synchronize(0)
s, t = torch.Stream("dl:0"), torch.Stream("dl:1")
with s:
    x += 5
    with t:
        y = x.to("dl:1")
        z = y * 2
        t.synchronize()
assert z.cpu().tolist() == [10.0] * 4
print("done")
""")
    assert said.strip().endswith("done")
