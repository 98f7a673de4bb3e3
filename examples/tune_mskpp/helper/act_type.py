"""The structures of act.hpp, for passing arguments."""

from __future__ import annotations

import ctypes


class GemmCoord(ctypes.Structure):
    """The sizes of a matrix product."""

    _fields_ = [("m", ctypes.c_uint32), ("n", ctypes.c_uint32), ("k", ctypes.c_uint32)]


class RowMajor(ctypes.Structure):
    """Row-major layout of a matrix."""

    _fields_ = [("rows", ctypes.c_uint32), ("columns", ctypes.c_uint32)]


class ColumnMajor(ctypes.Structure):
    """Column-major layout of a matrix."""

    _fields_ = [("rows", ctypes.c_uint32), ("columns", ctypes.c_uint32)]
