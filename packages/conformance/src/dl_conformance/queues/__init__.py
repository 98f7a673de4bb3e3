"""Streams, events and memory of a vendor for checks of asynchronous work."""

from __future__ import annotations

from .bench import Bench, Block, Event, Stream
from .rounds import repeat_while_busy

__all__ = ["Bench", "Block", "Event", "Stream", "repeat_while_busy"]
