"""Errors of contract graphs."""

from __future__ import annotations

from diopi_proto.errors import DiopiError


class GraphError(DiopiError):
    """A contract graph is invalid, or a run of a graph failed.

    The message names the file, the entry, the call or the value, and the remedy.
    """
