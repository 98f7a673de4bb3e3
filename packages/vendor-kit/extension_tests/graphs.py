"""Streams are captured and replayed."""

from __future__ import annotations

from .played import Played


def test_captured_work_runs_with_each_launch_and_not_before(played: Played) -> None:
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
    played.on_vendor(code)


def test_what_needs_that_the_stream_runs_is_refused_and_the_capture_goes_on(played: Played) -> None:
    code = """
    from diopi_proto import ffi
    def refused(call, words):
        try:
            call()
        except VendorError as error:
            assert words in str(error), str(error)
        else:
            raise AssertionError(words)
    stream, x = vendor.stream(), vendor.tensor(np.ones(2, "float32"))
    queue = stream.pointer_for(vendor._instance, 0)
    slots = vendor.graphs._slots
    with vendor.graphs.capture(stream) as graph:
        refused(stream.synchronize, "the stream captures, and waiting for it")
        refused(stream.query, "the stream captures, and asking")
        refused(vendor.synchronize, "the stream captures, and waiting for its device")
        refused(lambda: slots.call("capture_begin", 0, queue, 0), "captures already")
        vendor.op.MulInp(x, x, stream=stream, synchronize=False)
        vendor.op.AddInp(x, x, 1, stream=stream, synchronize=False)
    graph.launch(stream)
    assert x.numpy().tolist() == [2, 2]
    out = ffi.new("void**")
    refused(lambda: slots.call("capture_end", 0, queue, out), "does not capture")
    refused(lambda: slots.call("capture_begin", 0, ffi.NULL, 0), "default stream")
    refused(lambda: slots.call("capture_begin", 0, queue, 4), "flags of a capture are zero, not 4")
    refused(lambda: slots.call("launch", 0, ffi.cast("void*", 12345), queue), "is no graph of dev")
    stream.synchronize()
    """
    played.on_vendor(code)


def test_operator_that_waits_is_named_and_the_capture_goes_on(played: Played) -> None:
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
    said = played.run(code)
    assert said.startswith("[diopiNonzero] ")
    assert "cannot be captured in a graph: call it before or after the capture" in said
    assert said.endswith("[2.0, 2.0, 2.0, 2.0]\n")


def test_a_stream_may_be_destroyed_while_it_captures(played: Played) -> None:
    code = """
    stream, x = vendor.stream(), vendor.tensor(np.ones(2, "float32"))
    assert vendor.graphs is not None
    vendor.graphs._slots.call("capture_begin", 0, stream.pointer_for(vendor._instance, 0), 0)
    del stream
    vendor.synchronize()
    assert x.numpy().tolist() == [1, 1]
    """
    played.on_vendor(code)


def test_torch_replays_a_graph(played: Played) -> None:
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
    said = played.run(code)
    assert said == "[15.0, 15.0, 15.0, 15.0]\n"


def test_a_driver_that_fails_leaves_a_stream_that_runs(played: Played) -> None:
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
    said = played.failing("graph_instantiate").on_vendor(code)
    assert "graph_instantiate" in said
