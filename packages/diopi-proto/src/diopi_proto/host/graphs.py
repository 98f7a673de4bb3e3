"""The graph extension (graph capture): records the work of a stream once and replays it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .cabi import ffi
from .extensions import create_owned, extension_of
from .instance import Instance
from .streams import Stream
from .structs import CData


class Graphs:
    """The graph extension of one vendor; :attr:`diopi_proto.Vendor.graphs`."""

    def __init__(self, instance: Instance) -> None:
        self._instance, self._slots = instance, extension_of(instance, "graph")

    @contextmanager
    def capture(self, stream: Stream) -> Iterator[Graph]:
        """Capture the work enqueued on a stream, which must not be synchronized meanwhile::

            with vendor.graphs.capture(stream) as graph:
                vendor.op.Add(out, a, b, 1, stream=stream, synchronize=False)
            graph.launch(stream)

        The graph keeps its tensors alive. An exception in the block ends the capture and discards
        the graph.

        :raises VendorError: the stream captures already, or some work cannot be captured.
        """
        instance, device = self._instance, stream.device
        queue = stream.pointer_for(instance, device)
        instance.wait(device, queue)
        self._slots.call("capture_begin", device, queue, 0)
        graph = Graph(self, stream)
        try:
            yield graph
        finally:
            graph._end(queue)

    def capturing(self, stream: Stream) -> bool:
        """Return True if a stream captures."""
        found = ffi.new("int32_t*")
        queue = stream.pointer_for(self._instance, stream.device)
        self._slots.call("capture_status", stream.device, queue, found)
        return bool(found[0])


class Graph:
    """Captured work, created by :meth:`Graphs.capture`; destroyed with its last reference.

    :ivar device: device on which it runs.
    """

    def __init__(self, graphs: Graphs, stream: Stream) -> None:
        self._instance, self._slots = graphs._instance, graphs._slots
        self._captured = stream
        self.device = stream.device
        self._pointer: CData = ffi.NULL
        self._keep: list[object] = []

    def _end(self, queue: CData) -> None:
        slots, device = self._slots, self.device
        self._keep = self._instance.take_in_flight(device, queue)
        self._pointer = create_owned(
            self,
            self._instance,
            lambda pointer: slots.call("capture_end", device, queue, pointer),
            lambda graph: slots.call("destroy", device, graph),
            "graph",
        )

    @property
    def nodes(self) -> int:
        """Return the number of captured items of work."""
        raw = ffi.new("dl_graph_properties_t*")
        raw.struct_size = ffi.sizeof("dl_graph_properties_t")
        self._slots.call("properties", self.device, self._pointer, raw)
        return int(raw.nodes)

    def launch(self, stream: Stream | None = None, *, synchronize: bool = True) -> None:
        """Run the graph in stream order.

        :param synchronize: wait for the graph; False: return once it is enqueued.
        :raises VendorError: the launch or the synchronization failed.
        """
        instance, device = self._instance, self.device
        queue = stream.pointer_for(instance, device) if stream is not None else ffi.NULL
        self._slots.call("launch", device, self._pointer, queue)
        instance.enqueued(device, queue, [self, stream])
        if instance.device_errors is not None:
            captured = self._captured.pointer_for(instance, device)
            instance.device_errors.launched(device, queue, captured)
        if synchronize:
            instance.wait(device, queue)
