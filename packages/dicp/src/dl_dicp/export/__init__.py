"""Exported programs as contract graphs in a file."""

from __future__ import annotations

from .exporter import ExportError, export, export_entries

__all__ = ["ExportError", "export", "export_entries"]
