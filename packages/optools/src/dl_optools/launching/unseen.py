"""Operators on the device that no tool observed: in forked children, and in threads."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable
from typing import Any, cast

from diopi_proto.tolerance.torch_operators.schema import Overload, signature
from dl_optools.call import OpCall
from dl_optools.environment import environment
from dl_optools.launching.notes import note
from dl_optools.launching.unseen_notes import UNSEEN
from dl_optools.names import Level
from dl_optools.tool import Tool


class UnseenCalls(Tool):
    """Counts unobserved calls, and reports them at 1, 2, 4, 8, ... calls and at the end.

    :param where: ``a forked process`` or ``a thread``.
    :param tools: names of the tools that do not observe them.
    """

    variable = "UNSEEN"
    default_level = Level.DISPATCH
    observes = True

    def __init__(self, where: str, tools: Iterable[str], **options: Any) -> None:
        super().__init__(**options)
        self._where, self._tools = where, list(tools)
        self._calls = self._told = 0
        self._key = f"{os.getpid()} {threading.get_ident()}"

    def wants(self, name: str, function: Callable[..., Any]) -> bool:
        return not signature(cast("Overload[Any, Any]", function)).view

    def handle(self, call: OpCall) -> Any:
        self._calls += 1
        if self._calls & (self._calls - 1) == 0:
            self.tell()
        return call.proceed()

    def tell(self) -> None:
        """Report the number of calls until now."""
        if self._calls > self._told:
            self._told = self._calls
            found = [self._key, self._where, self._tools, self._calls]
            note(environment(), UNSEEN + json.dumps(found))
