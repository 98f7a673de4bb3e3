"""Memory is reused in the order of work, on a vendor whose streams can be held."""

from __future__ import annotations

from .processes import CONTROL, RUNS_ONCE, output

pytestmark = RUNS_ONCE

PREPARE = f"""
import torch
{CONTROL}
side = torch.dl.Stream()

def handle(stream):
    return 0 if stream == torch.dl.default_stream() else stream.native_handle
"""


def run(code: str) -> str:
    return output(PREPARE + code, DL_VENDORS="async", DL_FALLBACK="error")


def test_memory_freed_on_a_held_stream_is_reused_in_order() -> None:
    run("""
x = torch.full((1000,), 7.0, device="dl")
torch.dl.synchronize()
control.hold()
y = x + 1
address = x.data_ptr()
del x
z = torch.full((1000,), 9.0, device="dl")
assert z.data_ptr() == address, "same stream: the work before is done by then"
with torch.dl.stream(side):
    kept = [torch.full((1000,), 0.0, device="dl") for _ in range(4)]
del z
with torch.dl.stream(side):
    other = torch.full((1000,), 0.0, device="dl")
    assert other.data_ptr() != address, "another stream could run before"
control.release()
assert y.tolist() == [8] * 1000
""")


def test_recorded_stream_keeps_memory_until_it_has_read() -> None:
    run("""
x = torch.full((1000,), 7.0, device="dl")
torch.dl.synchronize()
address = x.data_ptr()
control.hold(0, handle(side))
with torch.dl.stream(side):
    y = x + 1
x.record_stream(side)
del x
z = torch.full((1000,), 9.0, device="dl")
written = torch.dl.current_stream().record_event()
if z.data_ptr() == address:
    assert not written.query(), "it was overwritten before side had read it"
control.release(0, handle(side))
with torch.dl.stream(side):
    assert y.tolist() == [8] * 1000
assert z.tolist() == [9] * 1000
""")
