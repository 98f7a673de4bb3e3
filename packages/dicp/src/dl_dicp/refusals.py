"""Calls that the verifier refuses whatever stands around them, found when a graph was refused.

dl-core may ask of a vendor what the contract does not promise, and get it. Such a call is no call
of a graph, but one operator is no reason to run all others eagerly: when the graph is recorded
again, the operator becomes a host call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable

from diopi_proto.errors import DiopiError
from dl_graph import read

from .calls import Call
from .document import Region, build

_refused: dict[str, dict[str, str]] = {}
"""By operator and text of a graph of that call alone: why."""
_lock = threading.Lock()


def learn(calls: Iterable[Call]) -> bool:
    """Look for calls that are refused by themselves; whether there was one not known before."""
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
    """What the verifier said about a call like this; None: it did not refuse one."""
    known = _refused.get(call.operator)
    return known.get(_alone(call).text) if known else None


def forget() -> None:
    """Begin anew."""
    with _lock:
        _refused.clear()


def _alone(call: Call) -> Region:
    return build([call], {ref.block for ref, _ in call.uses()}, [])
