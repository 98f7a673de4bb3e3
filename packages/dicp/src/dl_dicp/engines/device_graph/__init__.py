"""The engine ``capture``: captures contract graphs as device graphs and replays them.

The vendor's graph extension records the work that is enqueued on a stream, including addresses. A
captured contract graph therefore reads and writes memory at fixed addresses. Inputs that have the
same address in each run are read in place; other inputs are copied into memory of the capture.
Results are copied into new tensors.
"""

from __future__ import annotations

from dl_dicp.engines.device_graph.captured_program import CapturedProgram

__all__ = ["CapturedProgram"]
