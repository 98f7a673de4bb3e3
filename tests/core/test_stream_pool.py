"""Streams come from a pool of 32 per device and priority, like CUDA's."""

from __future__ import annotations

import pytest

from .processes import CONTROL, RUNS_ONCE, VENDORS, output

pytestmark = RUNS_ONCE

KNOWN = """
import torch

def known(stream_id, device_index=0):
    kind = torch._C._autograd.DeviceType.PrivateUse1.value
    return torch.Stream(stream_id=stream_id, device_index=device_index, device_type=kind)
"""


@pytest.mark.parametrize("vendor", VENDORS)
def test_streams_return_after_32_for_as_long_as_a_program_makes_them(vendor: str) -> None:
    code = """
first = [torch.Stream(device="dl") for _ in range(32)]
again = [torch.Stream(device="dl") for _ in range(5000)]
assert len(set(first)) == 32 and torch.dl.default_stream() not in first
assert again[:32] == first and again[-1] == first[4999 % 32]
assert [hash(s) for s in again[:32]] == [hash(s) for s in first]
assert [s.native_handle for s in again[:32]] == [s.native_handle for s in first]
for index, stream in enumerate(again[:200]):
    with stream:
        x = torch.full((8,), float(index), device="dl") + 1
        assert x.tolist() == [index + 1] * 8
        del x
torch.dl.synchronize()
assert torch.dl.memory_reserved() <= 33 * (2 << 20), torch.dl.memory_reserved()
"""
    output(KNOWN + code, DL_VENDORS=vendor)


def test_priorities_and_devices_have_pools_of_their_own_and_core_has_streams_apart() -> None:
    code = """
from dl_core import _C
from dl_dicp.engines.device_graph.recording import _aside

assert torch.dl.device_count() == 2
own = [known(_C.reserved_stream(0)), known(_C.reserved_stream(0))]
with _aside(torch.device("dl:0")):
    own.append(torch.dl.current_stream(0))
pools = {
    (device, priority): [torch.Stream(device=f"dl:{device}", priority=priority) for _ in range(64)]
    for device in (0, 1)
    for priority in (-3, -1, 0, 2)
}
with _aside(torch.device("dl:0")):
    own.append(torch.dl.current_stream(0))
assert own[2] == own[3] and len(set(own)) == 3
assert all(len(set(pool)) == 32 for pool in pools.values())
assert len(set().union(*pools.values())) == 32 * len(pools)
assert not set(own) & set().union(*pools.values())
assert torch.Stream(device="dl", priority=-9) in pools[0, -3]
"""
    output(KNOWN + code, DL_VENDORS="async")


def test_a_stream_that_returns_is_the_same_queue_with_the_same_memory() -> None:
    code = f"""
{CONTROL}
stream = torch.Stream(device="dl")
twin = [torch.Stream(device="dl") for _ in range(32)][-1]
other = torch.Stream(device="dl")
assert twin == stream != other
with stream:
    x = torch.full((1000,), 1.0, device="dl")
    address = x.data_ptr()
stream.synchronize()
control.hold(0, stream.native_handle)
with stream:
    y = x + 1
    del x  # its block is free in the order of this stream, and of its twin
with twin:
    z = torch.full((1000,), 5.0, device="dl")
assert z.data_ptr() == address and not twin.query()
y.record_stream(twin)
twin.wait_stream(stream)
with other:
    assert (torch.ones(4, device="dl") * 2).tolist() == [2] * 4
control.release(0, stream.native_handle)
twin.synchronize()
assert stream.query() and y.sum().item() == 2000 and z.sum().item() == 5000
"""
    output(KNOWN + code, DL_VENDORS="async", DL_FALLBACK="error")


def test_streams_that_do_not_exist_are_refused() -> None:
    code = """
import pytest

torch.Stream(device="dl")
for stream in (known(250), known(-1), known(10**12), known(0, 40), known(0, 120)):
    for use in (torch.accelerator.set_stream, torch.dl.Event().record, torch.dl.set_stream):
        with pytest.raises(RuntimeError, match=r"\\[dl\\].*does not exist|device"):
            use(stream)
assert torch.dl.current_stream() == torch.dl.default_stream()
assert torch.ones(2, device="dl").sum().item() == 2
"""
    output(KNOWN + code, DL_VENDORS="async")
