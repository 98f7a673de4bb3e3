"""The engine ``capture``: a contract graph becomes a device graph, which is replayed at once.

The vendor's graph extension records what is enqueued on a stream, with its addresses. So a contract
graph that is captured reads and writes memory which stays where it is: inputs that lie at the same
addresses in each run are read there, others are copied into memory of the capture, and what it
makes is copied out into new tensors.
"""

from __future__ import annotations

from .program import CapturedProgram

__all__ = ["CapturedProgram"]
