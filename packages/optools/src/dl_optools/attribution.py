"""Which Python function and which module an overload of the dispatcher belongs to.

Forward calls belong to the function of torch that runs around them. Backward runs later: every node
of autograd's graph is marked with the call that made it.
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
    """Fills in :attr:`OpCall.parent` and :attr:`OpCall.module` for the tools that run besides.

    Start it before them: the tool that starts last meets calls first.
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
            # A graph that held the arguments would keep them, and through them itself, alive.
            identity = call.identity()
            for node in made:
                # Functions that call others: the inner one made the node.
                node_metadata(node).setdefault(PARENT, identity)
        return result
