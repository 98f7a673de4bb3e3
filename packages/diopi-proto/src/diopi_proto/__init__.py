"""The contract between hosts and accelerator vendors, and a host that needs no torch.

Importing this loads neither numpy nor cffi; modules that need them are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ._paths import cmake_dir, host_library, include_dir, runtime_library
from ._version import __version__
from .descriptor import AddedOperators, VendorDescriptor
from .errors import (
    AbiMismatchError,
    AdaptorError,
    ArgumentError,
    BuildError,
    ClosedError,
    DiopiError,
    NotSupportedError,
    OperatorError,
    OperatorNotBoundError,
    OutOfMemoryError,
    StrayWriteError,
    TrialTimeoutError,
    TrialUnavailableError,
    UnavailableError,
    VendorError,
    VendorLoadError,
)

if TYPE_CHECKING:
    from ._ffi_gen import ffi
    from .host import Generator, Tensor, Vendor, load_vendor, probe_library

_LAZY = {
    "ffi": "._ffi_gen",
    "Generator": ".host",
    "Tensor": ".host",
    "Vendor": ".host",
    "load_vendor": ".host",
    "probe_library": ".host",
}

__all__ = [
    "AbiMismatchError",
    "AdaptorError",
    "AddedOperators",
    "ArgumentError",
    "BuildError",
    "ClosedError",
    "DiopiError",
    "Generator",
    "NotSupportedError",
    "OperatorError",
    "OperatorNotBoundError",
    "OutOfMemoryError",
    "StrayWriteError",
    "Tensor",
    "TrialTimeoutError",
    "TrialUnavailableError",
    "UnavailableError",
    "Vendor",
    "VendorDescriptor",
    "VendorError",
    "VendorLoadError",
    "__version__",
    "cmake_dir",
    "ffi",
    "host_library",
    "include_dir",
    "load_vendor",
    "probe_library",
    "runtime_library",
]


def __getattr__(name: str) -> object:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(module, __name__), name)
