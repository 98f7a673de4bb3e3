"""Toolchains, which compile a candidate and launch it on a device."""

from __future__ import annotations

from .toolchain import Buffer, CompileError, Toolchain

__all__ = ["Buffer", "CompileError", "Toolchain"]
