"""Shared tests of graphs, on the fake driver, and tests of the fake's own checks."""

from __future__ import annotations

import textwrap

from extension_tests import graphs
from extension_tests.graphs import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from conftest import all_families, long

test_operator_that_waits_is_named_and_the_capture_continues = all_families(
    graphs.test_operator_that_waits_is_named_and_the_capture_continues
)

test_torch_replays_a_graph = long(graphs.test_torch_replays_a_graph)

DRIVER = """
import cffi, os
ffi = cffi.FFI()
ffi.cdef('''
int hipMalloc(void**, size_t); int hipMemsetAsync(void*, int, size_t, void*);
int hipStreamCreateWithPriority(void**, unsigned, int); int hipStreamBeginCapture(void*, int);
int hipStreamEndCapture(void*, void**); int hipStreamIsCapturing(void*, int*);
int hipStreamSynchronize(void*); int hipDeviceSynchronize(void);
int hipEventCreateWithFlags(void**, unsigned); int hipEventRecord(void*, void*);
int hipEventQuery(void*); int hipStreamWaitEvent(void*, void*, unsigned);
int hipGraphInstantiateWithFlags(void**, void*, unsigned long long); int hipGraphDestroy(void*);
int hipGraphGetNodes(void*, void**, size_t*);
''')
hip = ffi.dlopen(os.environ["DL_ROCM_DRIVER"])
def made(create, *arguments):
    out = ffi.new("void**")
    assert create(out, *arguments) == 0
    return out[0]
def end(stream):
    out = ffi.new("void**")
    return hip.hipStreamEndCapture(stream, out), out[0]
first, second = (made(hip.hipStreamCreateWithPriority, 1, 0) for _ in range(2))
memory, event = made(hip.hipMalloc, 64), made(hip.hipEventCreateWithFlags, 2)
"""


def test_the_fake_detects_waits_in_a_capture(simulated_vendor: SimulatedVendor) -> None:
    code = """
    for wait in (lambda: hip.hipStreamSynchronize(first), hip.hipDeviceSynchronize):
        assert hip.hipStreamBeginCapture(first, 2) == 0
        assert hip.hipStreamBeginCapture(first, 2) == 401
        assert wait() == 900
        status = ffi.new("int*")
        assert hip.hipStreamIsCapturing(first, status) == 0 and status[0] == 2
        assert end(first) == (901, ffi.NULL)
        assert wait() == 0
    assert hip.hipStreamBeginCapture(ffi.NULL, 2) == 900
    assert hip.hipStreamBeginCapture(first, 0) == 1
    """
    simulated_vendor.run_on_vendor(DRIVER + textwrap.dedent(code))


def test_the_fake_detects_streams_that_do_not_join_again(simulated_vendor: SimulatedVendor) -> None:
    code = """
    def fork():
        assert hip.hipStreamBeginCapture(first, 2) == 0
        assert hip.hipEventRecord(event, first) == hip.hipStreamWaitEvent(second, event, 0) == 0
        assert hip.hipMemsetAsync(memory, 1, 64, second) == 0
    fork()
    assert hip.hipEventQuery(event) == 907 and end(second)[0] == 903
    assert end(first)[0] == 904
    fork()
    assert hip.hipEventRecord(event, second) == hip.hipStreamWaitEvent(first, event, 0) == 0
    code, graph = end(first)
    count = ffi.new("size_t*")
    assert code == 0 and hip.hipGraphGetNodes(graph, ffi.NULL, count) == 0 and count[0] == 1
    assert hip.hipGraphDestroy(graph) == 0 and hip.hipGraphDestroy(graph) == 1
    out = ffi.new("void**")
    assert hip.hipGraphInstantiateWithFlags(out, graph, 0) == 1
    """
    simulated_vendor.run_on_vendor(DRIVER + textwrap.dedent(code))
