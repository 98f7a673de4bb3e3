"""The engine ``capture``: contract graphs as device graphs (graph capture), which are replayed.

The vendor's graph extension records what is enqueued on a stream, with its addresses. So a contract
graph that is captured reads and writes memory at fixed addresses: inputs with the same address in
each run are read there, others are copied into memory of the capture, and results are copied into
new tensors.
"""

from __future__ import annotations

from dl_dicp.engines.device_graph.captured_program import CapturedProgram

__all__ = ["CapturedProgram"]
