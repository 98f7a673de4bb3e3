"""Tests of the interfaces that programs use: they need dl-core and a vendor, and fail without."""

from __future__ import annotations

from core.conftest import _device

__all__ = ["_device"]
