"""Shared tests of peer access, on the fake driver, and tests of the fake's own checks."""

from __future__ import annotations

from extension_tests import peers
from extension_tests.peers import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import long

test_torch_shares_a_tensor_with_another_process = long(
    peers.test_torch_shares_a_tensor_with_another_process
)


def test_devices_without_peer_access_report_it(simulated_vendor: SimulatedVendor) -> None:
    code = """
    assert not vendor.peers.can_access(0, 1)
    try:
        vendor.peers.enable_access(0, 1)
    except VendorError as error:
        print(error)
    here, there = vendor.tensor(np.arange(3.0, dtype="f4"), device=0), vendor.empty((3,), device=1)
    vendor.peers.copy(there, here)
    print(there.numpy().tolist())
    """
    output = (
        simulated_vendor.with_devices(2).with_variables(FAKE_HIP_PEERS="off").run_on_vendor(code)
    )
    assert "kernels of device 0 cannot reach memory of device 1; copy the data instead" in output
    assert output.endswith("[0.0, 1.0, 2.0]\n")


def test_errors_of_access_are_cleared(simulated_vendor: SimulatedVendor) -> None:
    """HIP keeps the thread's last error, and it counts access that is already enabled as one."""
    code = """
    import cffi, os
    ffi = cffi.FFI()
    ffi.cdef("int hipGetLastError(void); int hipDeviceEnablePeerAccess(int, unsigned);")
    hip = ffi.dlopen(os.environ["DL_ROCM_DRIVER"])
    for _ in range(2):
        vendor.peers.enable_access(0, 1)
    assert hip.hipGetLastError() == 0
    assert hip.hipDeviceEnablePeerAccess(1, 0) == 704 == hip.hipGetLastError()
    for _ in range(2):
        vendor.peers.disable_access(0, 1)
    assert hip.hipGetLastError() == 0
    """
    simulated_vendor.with_devices(2).run_on_vendor(code)


def test_peer_memory_is_inaccessible_without_access(simulated_vendor: SimulatedVendor) -> None:
    code = """
    import os
    x = vendor.tensor(np.arange(3.0, dtype="f4"), device=1)
    vendor.synchronize(1)
    if os.fork() == 0:
        import cffi
        cffi.FFI().cast("float *", x.storage.address)[0]
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    assert int(simulated_vendor.with_devices(2).run_on_vendor(code)) < 0
