"""Lifetime of memory, observed through the vendor's counters."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import diopi_proto
from diopi_proto import OperatorError, OutOfMemoryError, load_vendor
from diopi_proto.host import handle_ops

Compile = Callable[..., Path]


def test_scratch_memory_is_freed_with_the_call_and_results_live(
    library: Path, counters: type
) -> None:
    vendor, count = load_vendor(library), counters(library)
    array = np.array([0, 1, 1], np.float32)
    source = vendor.tensor(array, copy=False)
    found = vendor.op.Nonzero(source)
    gc.collect()
    assert count.blocks == 1  # the scratch tensor of the same call is gone
    del source
    assert found.numpy().tolist() == [[1], [2]]
    view = found.numpy(copy=False)
    del found
    gc.collect()
    assert count.blocks == 1
    assert view.tolist() == [[1], [2]]
    del view
    gc.collect()
    assert count.blocks == 0


def test_a_failing_operator_leaves_nothing_behind(library: Path, counters: type) -> None:
    with load_vendor(library) as vendor:
        tensor = vendor.tensor(np.zeros(1, np.float32), copy=False)
        for operator in (vendor.op.Sigmoid, vendor.op.Relu, vendor.op.Tanh):
            with pytest.raises((OperatorError, OutOfMemoryError)):
                operator(tensor, tensor)
        gc.collect()
        assert counters(library).blocks == 0
        assert not handle_ops.running


def test_sizes_live_as_long_as_the_handle(library: Path) -> None:
    """The addresses in a diopiSize_t stay valid while other tensors are allocated."""
    with load_vendor(library) as vendor:
        tensor = vendor.empty((3, 4, 5))
        before = (tensor._prefix.sizes, tensor._prefix.strides)
        gc.collect()
        junk = [vendor.empty((7, 7, 7)) for _ in range(200)]
        assert (tensor._prefix.sizes, tensor._prefix.strides) == before
        assert [tensor._prefix.sizes[i] for i in range(3)] == [3, 4, 5]
        assert [tensor._prefix.strides[i] for i in range(3)] == [20, 5, 1]
        del junk


def test_an_instance_is_destroyed_when_closed(library: Path, counters: type) -> None:
    count = counters(library)
    vendor = load_vendor(library)
    assert count.instances == 1
    vendor.close()
    assert count.instances == 0


def test_an_instance_outlives_its_vendor_while_memory_is_viewed(
    library: Path, counters: type
) -> None:
    count = counters(library)
    vendor = load_vendor(library)
    array = vendor.tensor(np.arange(3, dtype=np.float32)).numpy(copy=False)
    vendor.close()
    gc.collect()
    assert (count.instances, count.blocks) == (1, 1)
    assert array.tolist() == [0, 1, 2]
    del array
    gc.collect()
    assert (count.instances, count.blocks) == (0, 0)


def test_a_forgotten_instance_is_destroyed(library: Path, counters: type) -> None:
    count = counters(library)
    vendor = load_vendor(library)
    tensor = vendor.empty((3,))
    assert count.instances == 1
    del vendor, tensor
    gc.collect()
    assert (count.instances, count.blocks) == (0, 0)


def test_a_refused_allocation_holds_nothing(library: Path, counters: type) -> None:
    vendor = load_vendor(library)
    with pytest.raises(MemoryError):
        vendor.empty((1 << 30,))
    vendor.close()
    assert counters(library).instances == 0


def test_streams_are_destroyed(library: Path, counters: type) -> None:
    count = counters(library)
    vendor = load_vendor(library)
    stream = vendor.stream()
    vendor.close()
    gc.collect()
    assert (count.streams, count.instances) == (1, 1)
    del stream
    gc.collect()
    assert (count.streams, count.instances) == (0, 0)


def test_the_process_ends_in_order(library: Path, tmp_path: Path) -> None:
    """Instances are destroyed while Python still runs, even if tensors and views exist."""
    script = tmp_path / "script.py"
    script.write_text(
        "import atexit, sys\n"
        "import numpy as np\n"
        "from cffi import FFI\n"
        "ffi = FFI()\n"
        "ffi.cdef('int64_t fixture_live_instances(void);')\n"
        "count = ffi.dlopen(sys.argv[1]).fixture_live_instances\n"
        "atexit.register(lambda: print('left', count()))\n"
        "from diopi_proto import load_vendor\n"
        "vendor = load_vendor(sys.argv[1])\n"
        "tensor = vendor.tensor(np.zeros(3))\n"
        "view = tensor.numpy(copy=False)\n"
        "stream = vendor.stream()\n"
        "print('alive', count())\n"
    )
    source = str(Path(diopi_proto.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-X", "dev", str(script), str(library)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": source, "PATH": ""},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:2] == ["alive 1", "left 0"]
