"""Constants of the headers in a process that other code inspects."""

from __future__ import annotations

import sys

import pytest

from diopi_proto.host.cabi import constants


def test_constants_have_the_values_of_the_headers() -> None:
    assert constants.DL_OK == 0
    assert constants.DL_INVALID_ARGUMENT != constants.DL_OK
    with pytest.raises(AttributeError, match="DL_NO_SUCH_CONSTANT"):
        _ = constants.DL_NO_SUCH_CONSTANT


def test_programs_may_inspect_the_globals_of_all_modules() -> None:
    modules = [module for name, module in sys.modules.items() if name.startswith("diopi_proto")]
    assert len(modules) > 1
    for module in modules:
        for value in list(vars(module).values()):
            if hasattr(value, "__dict__"):
                vars(value)
