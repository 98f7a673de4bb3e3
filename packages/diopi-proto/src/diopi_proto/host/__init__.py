"""A host for vendor libraries in plain Python: numpy and cffi, no torch.

:func:`load_vendor` opens a library; :class:`Vendor` is one instance of it, with tensors and
    operators.
"""

from __future__ import annotations

from .devices import DeviceProperties
from .generator import Generator
from .load import load_vendor
from .probe import ProbeResult, probe_library
from .scalar import Scalar
from .streams import Event, Stream
from .tensor import Tensor
from .vendor import Vendor

__all__ = [
    "DeviceProperties",
    "Event",
    "Generator",
    "ProbeResult",
    "Scalar",
    "Stream",
    "Tensor",
    "Vendor",
    "load_vendor",
    "probe_library",
]
