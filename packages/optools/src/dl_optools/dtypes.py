"""Parser of dtype pairs: ``torch.float16->torch.float32,torch.bfloat16->torch.float32``."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from dl_optools.options import read
from dl_optools.selection import split_list

VARIABLE = "OP_DTYPE_CAST_DICT"
DEFAULT: Mapping[torch.dtype, torch.dtype] = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
}
_ALLOWED = "pairs such as torch.float16->torch.float32, separated by commas"


def dtype(name: str) -> torch.dtype:
    """Return a dtype by its name: ``torch.float16`` or ``float16``.

    :raises ValueError: torch has no such dtype.
    """
    found = getattr(torch, name.strip().removeprefix("torch."), None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"{name!r} is not a dtype of torch")
    return found


def dtype_pairs(text: str) -> dict[torch.dtype, torch.dtype]:
    """Parse pairs of dtypes.

    :raises ValueError: a part is not a pair, its dtypes are different kinds of number, or a dtype
        occurs twice on the left.
    """
    pairs: dict[torch.dtype, torch.dtype] = {}
    for part in split_list(text):
        source, arrow, target = part.partition("->")
        if not arrow:
            raise ValueError(f"{part!r} is not a pair of dtypes")
        if dtype(source) in pairs:
            raise ValueError(f"{source!r} is given twice")
        if _kind(dtype(source)) != _kind(dtype(target)):
            raise ValueError(f"{part!r} changes the kind of number, which changes results")
        pairs[dtype(source)] = dtype(target)
    return pairs


def _kind(of: torch.dtype) -> tuple[bool, bool]:
    return of.is_floating_point, of.is_complex


class CastOptions:
    """Values of ``OP_DTYPE_CAST_DICT``, and ``<OP>_OP_DTYPE_CAST_DICT`` for single operators.

    :raises OptionError: a variable does not hold pairs of dtypes.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        default: Mapping[torch.dtype, torch.dtype] = DEFAULT,
    ) -> None:
        self.default = read(environ, VARIABLE, dtype_pairs, default, _ALLOWED)
        none: Mapping[torch.dtype, torch.dtype] = {}
        self.single = {
            name.removesuffix(f"_{VARIABLE}"): read(environ, name, dtype_pairs, none, _ALLOWED)
            for name in environ
            if name.endswith(f"_{VARIABLE}") and environ[name].strip()
        }

    def of(self, operator: str) -> Mapping[torch.dtype, torch.dtype]:
        """Return the dtypes for an operator, given the name in its variables: ``LINEAR``."""
        return self.single.get(operator, self.default)
