"""Description of a wrapped function, and its installation."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MARK = "_dl_integrations_wrapper"


@dataclass(frozen=True)
class Wrapper:
    """A function of a framework and its replacement.

    :ivar module: module that defines the function.
    :ivar name: name of the function in its module, such as ``Pipeline.__init__``.
    :ivar versions: versions of the framework with which the wrapper was tested.
    :ivar digest: digest of the upstream source in these versions.
    :ivar reason: the first step of a user that needs the wrapper.
    :ivar wrap: function that returns the replacement of the upstream function.
    :ivar after: module after whose execution the function is wrapped; empty for ``module``.
        A module that imports torch may still be running when torch loads this wheel.
    """

    module: str
    name: str
    versions: tuple[str, ...]
    digest: str
    reason: str
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]]
    after: str = ""

    def install(self) -> None:
        """Replace the function of the imported module; do nothing if that has happened already.

        :raises AttributeError: the framework no longer has the function.
        """
        owner, name = self._owner()
        found = inspect.getattr_static(owner, name)
        original = found.__func__ if isinstance(found, staticmethod) else found
        if hasattr(original, MARK):
            return
        replacement: Any = functools.wraps(original, updated=())(self.wrap(original))
        setattr(replacement, MARK, self)
        static = isinstance(found, staticmethod)
        setattr(owner, name, staticmethod(replacement) if static else replacement)
        if "." not in self.name:
            self._replace_copies(original, replacement)

    def _replace_copies(self, original: Callable[..., Any], replacement: object) -> None:
        """Replace the function in modules of the framework that imported it by value."""
        package = self.module.partition(".")[0]
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] == package and vars(module).get(self.name) is original:
                setattr(module, self.name, replacement)

    def upstream(self) -> Callable[..., Any]:
        """Return the upstream function, whether it is wrapped or not."""
        owner, name = self._owner()
        function: Callable[..., Any] = inspect.unwrap(getattr(owner, name))
        return function

    def _owner(self) -> tuple[Any, str]:
        owner: Any = sys.modules[self.module]
        *outer, name = self.name.split(".")
        for part in outer:
            owner = getattr(owner, part)
        return owner, name


def digest_of(function: Callable[..., Any]) -> str:
    """Return the digest of a function's source without indentation and blank lines.

    Compiled functions have only their documentation.
    """
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = inspect.getdoc(function) or ""
    lines = (line.strip() for line in text.splitlines())
    return hashlib.sha256("\n".join(filter(None, lines)).encode()).hexdigest()[:16]
