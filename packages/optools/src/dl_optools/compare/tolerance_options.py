"""Variables that replace the rounding bound by a tolerance, or set the dtype of references.

``AUTOCOMPARE_ERROR_TOLERANCE``, ``AUTOCOMPARE_ERROR_TOLERANCE_FLOAT16`` and
``LINEAR_AUTOCOMPARE_ERROR_TOLERANCE_FLOAT16`` are ``atol,rtol``; the most specific one counts.
``OP_DTYPE_CAST_DICT`` and ``LINEAR_OP_DTYPE_CAST_DICT`` set the dtype of references:
``torch.float16->torch.float32,torch.bfloat16->torch.float64``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from dl_optools.dtypes import CastOptions
from dl_optools.names import short_name
from dl_optools.options import read

_TOLERANCE = "AUTOCOMPARE_ERROR_TOLERANCE"

Tolerance = tuple[float, float]


def parse_tolerance(text: str) -> Tolerance:
    """Parse ``1e-3,1e-2``: atol and rtol.

    :raises ValueError: not two numbers, a negative one, nan or inf.
    """
    atol, rtol = (float(part) for part in text.split(","))
    if not (0 <= atol < math.inf and 0 <= rtol < math.inf):
        raise ValueError(text)
    return atol, rtol


class ComparisonOptions:
    """All such variables of an environment, read once.

    :raises OptionError: a value is invalid.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._tolerances: dict[str, Tolerance] = {}
        self._casts = CastOptions(environ, default={})
        for name in environ:
            if not environ[name].strip():
                continue
            if name.startswith(_TOLERANCE) or f"_{_TOLERANCE}" in name:
                allowed = "two finite numbers >= 0: atol,rtol"
                self._tolerances[name] = read(environ, name, parse_tolerance, (0.0, 0.0), allowed)

    def tolerance(self, operator: str, dtype: torch.dtype) -> Tolerance | None:
        """Return the tolerance that replaces the bound for this dtype; None: the bound."""
        if not self._tolerances:
            return None
        own = str(dtype).removeprefix("torch.").upper()
        short = short_name(operator)
        for name in (
            f"{short}_{_TOLERANCE}_{own}",
            f"{short}_{_TOLERANCE}",
            f"{_TOLERANCE}_{own}",
            _TOLERANCE,
        ):
            if name in self._tolerances:
                return self._tolerances[name]
        return None

    def casts(self, operator: str) -> Mapping[torch.dtype, torch.dtype]:
        """Return the dtypes of references (default: :data:`.relocation.WIDER`)."""
        return self._casts.of(short_name(operator))
