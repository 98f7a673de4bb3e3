"""Attribution of dispatcher overloads to the Python function and the module that called them.

Forward calls belong to the torch function that is running. Backward runs later, so every node of
autograd's graph is marked with the call that created it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dl_optools.backward_graph import (
    next_sequence_number,
    node_metadata,
    nodes_behind,
    nodes_since,
)
from dl_optools.call import OpCall
from dl_optools.levels import PARENT
from dl_optools.modules import MODULE_PATH
from dl_optools.names import Level
from dl_optools.tensors import tensors_of
from dl_optools.tool import Tool


class Attribution(Tool):
    """Sets :attr:`OpCall.parent` and :attr:`OpCall.module` for the tools that run with it.

    Start it before the other tools: the tool that starts last sees calls first.
    """

    variable = "ATTRIBUTION"
    default_level = Level.API
    observes = True

    def opened(self) -> None:
        MODULE_PATH.open()

    def closed(self) -> None:
        MODULE_PATH.close()

    def applies(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        return True

    def handle(self, call: OpCall) -> Any:
        call.module = MODULE_PATH.current()
        given = tensors_of(call.args, call.kwargs)
        older = nodes_behind(given)
        number = next_sequence_number()
        result = call.proceed()
        made = nodes_since(tensors_of(result, given), number, older)
        if made:
            # A graph that references the arguments would keep them, and thereby itself, alive.
            identity = call.identity()
            for node in made:
                # If functions call each other, the inner one created the node.
                node_metadata(node).setdefault(PARENT, identity)
        return result
