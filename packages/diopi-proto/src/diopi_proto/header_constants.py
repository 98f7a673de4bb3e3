"""Constants of C headers, for use from Python.

Other hosts import this module during program startup, so it imports nothing but cffi.
"""

from __future__ import annotations

from typing import Any


class HeaderConstants:
    """Enumerators and integer macros as attributes.

    cffi's own object looks up every function of the headers when a program inspects it, as with
    ``vars``, and raises an error for the first one that is not in the process. Programs that
    inspect the globals of all modules would end with that error.
    """

    def __init__(self, ffi: Any) -> None:
        self._library = ffi.dlopen(None)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_library"], name)
        setattr(self, name, value)
        return value
