"""Tests of devices that access each other's memory and of memory shared between processes."""

from __future__ import annotations

from .simulated_vendor import SimulatedVendor


def test_copies_go_in_the_order_of_the_source_stream(simulated_vendor: SimulatedVendor) -> None:
    code = """
    stream = vendor.stream(0)
    here, there = vendor.tensor(np.arange(6.0, dtype="f4"), device=0), vendor.empty((6,), device=1)
    vendor.op.AddInp(here, here, 1, stream=stream, synchronize=False)
    vendor.peers.copy(there, here, stream=stream)
    assert there.numpy().tolist() == [0, 2, 4, 6, 8, 10]
    back = vendor.empty((6,), device=0)
    vendor.peers.copy(back, there)
    assert back.numpy().tolist() == there.numpy().tolist()
    """
    simulated_vendor.with_devices(2).run_on_vendor(code)


def test_access_is_enabled_and_disabled(simulated_vendor: SimulatedVendor) -> None:
    code = """
    peers = vendor.peers
    assert peers.can_access(0, 1) and peers.can_access(1, 0) and peers.can_access(1, 1)
    for _ in range(2):
        peers.enable_access(0, 1)
    for _ in range(2):
        peers.disable_access(0, 1)
    peers.enable_access(1, 1)
    missing = lambda: peers._slots.call("enable_access", 0, 7)
    expect_error(missing, "device 7 does not exist; number of devices: 2")
    """
    simulated_vendor.with_devices(2).run_on_vendor(code)


def test_a_kernel_works_on_memory_of_a_peer(compiling: SimulatedVendor) -> None:
    code = """
    text = 'extern "C" __global__ void k(int* x) { x[threadIdx.x] += 5; }'
    function = vendor.kernels.load(vendor.kernels.compile(text, device=0), 0).function("k")
    x = vendor.tensor(np.arange(4, dtype="int32"), device=1)
    vendor.peers.enable_access(0, 1)
    function(np.uint64(x.address), block=4)
    assert x.numpy().tolist() == [5, 6, 7, 8]
    """
    compiling.with_devices(2).run_on_vendor(code)


CHILD = """
import sys
from diopi_proto import load_vendor
vendor = load_vendor(sys.argv[1])
y = vendor.peers.open_memory(bytes.fromhex(sys.argv[2]), (4,))
assert y.numpy().tolist() == [0, 1, 2, 3]
vendor.op.AddInp(y, y, 1)
"""


def test_memory_is_opened_only_in_another_process(simulated_vendor: SimulatedVendor) -> None:
    code = f"""
    import subprocess, sys
    x = vendor.tensor(np.arange(4, dtype="float32"))
    name = vendor.peers.export_memory(x)
    for handle, words in ((name, "belongs to this process"), (bytes(128), "not exported by this")):
        expect_error(lambda: vendor.peers.open_memory(handle, (4,)), words)
    child = [sys.executable, "-c", {CHILD!r}, str(dl_vendor().library), name.hex()]
    subprocess.run(child, check=True)
    assert x.numpy().tolist() == [0, 2, 4, 6]
    """
    simulated_vendor.run_on_vendor(code)


TORCH_CHILD = """
import pickle, sys
import torch
x = pickle.loads(sys.stdin.buffer.read())
x.add_(x)
torch.dl.synchronize()
print(x.device.type)
"""


def test_torch_shares_a_tensor_with_another_process(simulated_vendor: SimulatedVendor) -> None:
    code = f"""
    import subprocess, sys
    import torch, torch.multiprocessing
    from multiprocessing.reduction import ForkingPickler
    x = torch.arange(4.0, device="dl")
    torch.dl.synchronize()
    child = [sys.executable, "-c", {TORCH_CHILD!r}]
    done = subprocess.run(child, input=bytes(ForkingPickler.dumps(x)), capture_output=True)
    print(done.stdout, done.stderr.decode(), x.cpu().tolist())
    """
    output = simulated_vendor.run(code)
    assert output == "b'dl\\n'  [0.0, 2.0, 4.0, 6.0]\n"
