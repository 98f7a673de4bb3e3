"""Calls that the verifier rejects in every graph.

dl-core may make calls that a vendor supports although the contract does not define them. A graph
cannot contain such a call. When a graph is rejected, its invalid calls are found and remembered.
They become host calls when the graph is recorded again, and all other calls are compiled.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from diopi_proto.errors import DiopiError
from dl_dicp.program.document import Region, build
from dl_dicp.recording.calls import Call
from dl_graph import read

_refused: dict[str, dict[str, str]] = {}
"""Reasons by operator and by the text of a graph with only that call."""
_lock = threading.Lock()


def learn(calls: Iterable[Call]) -> bool:
    """Find calls that are rejected individually; return True if a new one was found."""
    found = False
    for call in calls:
        alone = _alone(call)
        try:
            read(alone.verified(), call.operator)
        except DiopiError as error:
            with _lock:
                known = _refused.setdefault(call.operator, {})
                found = found or alone.text not in known
                known[alone.text] = str(error)
    return found


def why_refused(call: Call) -> str | None:
    """Return why the verifier rejects calls like this one; None if it does not."""
    known = _refused.get(call.operator)
    return known.get(_alone(call).text) if known else None


def forget() -> None:
    """Forget all rejected calls."""
    with _lock:
        _refused.clear()


def _alone(call: Call) -> Region:
    return build([call], {ref.block for ref, _ in call.uses()}, [])
