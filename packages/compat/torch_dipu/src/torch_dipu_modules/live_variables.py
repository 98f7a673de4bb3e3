"""Variables that a script changes while it runs: ``os.environ["DIPU_DUMP_OP_ARGS"] = "2"``.

DIPU reads this variable at each operator. Reading it there would slow down every operator, so that
assignments to ``os.environ``, which all call ``os.putenv`` or ``os.unsetenv``, change the mode
instead.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import torch

from dl_core import config
from dl_core.environment import environment

_DUMP = "dump_op_args"
_FUNCTIONS: Mapping[str, str] = {
    "autocompare": "torch.dl.set_autocompare()",
    "force_fallback": "torch.dl.set_force_fallback()",
    "keep_default": "torch.dl.set_keep_default()",
}
"""Functions for the settings that DIPU, too, reads only at its import."""

_putenv, _unsetenv = os.putenv, os.unsetenv


def watch() -> None:
    """Follow assignments to ``os.environ`` from now on."""
    os.putenv = _putenv_and_follow
    os.unsetenv = _unsetenv_and_follow


def _putenv_and_follow(name: Any, value: Any, /) -> None:
    _putenv(name, value)
    _follow(os.fsdecode(name), os.fsdecode(value))


def _unsetenv_and_follow(name: Any, /) -> None:
    _unsetenv(name)
    _follow(os.fsdecode(name), "")


def _follow(name: str, value: str) -> None:
    """Change the setting of a variable that gets a new value."""
    fields = [each.field for each in config.VARIABLES if name in each.names]
    if not fields or fields[0] not in (_DUMP, *_FUNCTIONS):
        return
    (field,) = fields
    before = config.read(environment())
    after = config.read({**environment(), name: value})
    for problem in after.problems:
        if problem not in before.problems:
            _warn(problem)
    if field == _DUMP:
        torch.dl.set_dump_op_args(after.dump_op_args)  # type: ignore[attr-defined]
    elif getattr(before, field) != getattr(after, field):
        _warn(
            f"{name} is read at `import torch_dipu`; {_FUNCTIONS[field]} changes this setting in a "
            f"running program."
        )


def _warn(message: str) -> None:
    # The caller of os.environ's __setitem__ or __delitem__.
    warnings.warn(f"torch_dipu: {message}", RuntimeWarning, stacklevel=5)
