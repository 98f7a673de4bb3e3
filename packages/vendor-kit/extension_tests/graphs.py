"""Tests of stream capture and graph replay."""

from __future__ import annotations

from .simulated_vendor import SimulatedVendor


def test_captured_work_runs_with_each_launch_and_not_before(
    simulated_vendor: SimulatedVendor,
) -> None:
    code = """
    stream = vendor.stream()
    total, step = vendor.tensor(np.zeros(4, "float32")), vendor.tensor(np.arange(4.0, dtype="f4"))
    with vendor.graphs.capture(stream) as graph:
        assert vendor.graphs.capturing(stream)
        vendor.op.AddInp(total, step, 1, stream=stream, synchronize=False)
        vendor.op.MulInp(total, total, stream=stream, synchronize=False)
    assert not vendor.graphs.capturing(stream) and graph.nodes == 2
    assert total.numpy().tolist() == [0, 0, 0, 0]
    graph.launch(stream)
    assert total.numpy().tolist() == [0, 1, 4, 9]
    graph.launch()
    assert total.numpy().tolist() == [0, 4, 36, 144]
    """
    simulated_vendor.run_on_vendor(code)


def test_a_wait_during_a_capture_is_refused_and_the_capture_continues(
    simulated_vendor: SimulatedVendor,
) -> None:
    code = """
    from diopi_proto import ffi
    stream, x = vendor.stream(), vendor.tensor(np.ones(2, "float32"))
    queue = stream.pointer_for(vendor._instance, 0)
    slots = vendor.graphs._slots
    with vendor.graphs.capture(stream) as graph:
        expect_error(stream.synchronize, "the stream is capturing, and waiting for it")
        expect_error(stream.query, "the stream is capturing, and asking")
        expect_error(vendor.synchronize, "the stream is capturing, and waiting for its device")
        expect_error(lambda: slots.call("capture_begin", 0, queue, 0), "already capturing")
        vendor.op.MulInp(x, x, stream=stream, synchronize=False)
        vendor.op.AddInp(x, x, 1, stream=stream, synchronize=False)
    graph.launch(stream)
    assert x.numpy().tolist() == [2, 2]
    out = ffi.new("void**")
    expect_error(lambda: slots.call("capture_end", 0, queue, out), "is not capturing")
    begin = lambda to, flags: slots.call("capture_begin", 0, to, flags)
    expect_error(lambda: begin(ffi.NULL, 0), "default stream")
    expect_error(lambda: begin(queue, 4), "flags of a capture must be 0, not 4")
    launch = lambda: slots.call("launch", 0, ffi.cast("void*", 1234), queue)
    expect_error(launch, "is not a graph of de")
    stream.synchronize()
    """
    simulated_vendor.run_on_vendor(code)


def test_operator_that_waits_is_named_and_the_capture_continues(
    simulated_vendor: SimulatedVendor,
) -> None:
    code = """
    import torch
    x = torch.ones(4, device="dl")
    graph, stream = torch.accelerator.Graph(), torch.Stream("dl")
    with stream:
        with graph:
            try:
                torch.nonzero(x)
            except RuntimeError as error:
                print(error)
            y = x + 1
        graph.replay()
        print(y.tolist())
    """
    output = simulated_vendor.run(code)
    assert output.startswith("[diopiNonzero] ")
    assert "cannot be captured in a graph: call it before or after the capture" in output
    assert output.endswith("[2.0, 2.0, 2.0, 2.0]\n")


def test_a_stream_may_be_destroyed_while_it_is_capturing(simulated_vendor: SimulatedVendor) -> None:
    code = """
    stream, x = vendor.stream(), vendor.tensor(np.ones(2, "float32"))
    assert vendor.graphs is not None
    vendor.graphs._slots.call("capture_begin", 0, stream.pointer_for(vendor._instance, 0), 0)
    del stream
    vendor.synchronize()
    assert x.numpy().tolist() == [1, 1]
    """
    simulated_vendor.run_on_vendor(code)


def test_torch_replays_a_graph(simulated_vendor: SimulatedVendor) -> None:
    code = """
    import torch
    x = torch.ones(4, device="dl")
    graph = torch.accelerator.Graph()
    stream = torch.Stream("dl")
    torch.dl.synchronize()
    with stream:
        graph.capture_begin()
        y = x * 2 + x
        graph.capture_end()
    x.fill_(5)
    torch.dl.synchronize()
    with stream:
        graph.replay()
    torch.dl.synchronize()
    print(y.cpu().tolist())
    """
    output = simulated_vendor.run(code)
    assert output == "[15.0, 15.0, 15.0, 15.0]\n"


def test_a_failed_capture_leaves_a_usable_stream(simulated_vendor: SimulatedVendor) -> None:
    code = """
    stream, x = vendor.stream(), vendor.tensor(np.ones(2, "float32"))
    try:
        with vendor.graphs.capture(stream):
            vendor.op.AddInp(x, x, 1, stream=stream, synchronize=False)
    except VendorError as error:
        print(error)
    assert not vendor.graphs.capturing(stream)
    vendor.op.AddInp(x, x, 1, stream=stream)
    assert x.numpy().tolist() == [2, 2]
    """
    output = simulated_vendor.with_failure("graph_instantiate").run_on_vendor(code)
    assert "graph_instantiate" in output
