"""Extensions of a vendor's table that this host knows."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable

from ..errors import DiopiError, NotSupportedError
from .cabi import constants, ffi
from .instance import Instance
from .structs import CData, TableSlots

_log = logging.getLogger("diopi_proto.vendor")

_NAMES: dict[int, str] = {
    constants.DL_EXT_COMMUNICATOR: "communicator",
    constants.DL_EXT_KERNEL: "kernel",
    constants.DL_EXT_GRAPH: "graph",
    constants.DL_EXT_PROFILER: "profiler",
    constants.DL_EXT_PEER: "peer",
    constants.DL_EXT_CHOICES: "choices",
    constants.DL_EXT_CONSTANTS: "constants",
}


def read_extensions(checked: CData, vendor: str) -> dict[str, TableSlots]:
    """Return the extensions of a checked vendor by name."""
    found: dict[str, TableSlots] = {}
    link = checked.table.extensions
    while link != ffi.NULL:
        name = _NAMES[int(link.type)]
        table = ffi.cast(f"dl_{name}_extension_t*", link)
        found[name] = TableSlots(checked, table, vendor, name)
        link = link.next
    return found


def extension_of(instance: Instance, name: str) -> TableSlots:
    """Return the slots of one extension.

    :raises NotSupportedError: the vendor does not have it.
    :raises ClosedError: the vendor was closed.
    """
    instance.lifetime.check_open()
    if name in instance.extensions:
        return instance.extensions[name]
    raise NotSupportedError(
        f"[{name}] vendor {instance.name} does not support the {name} extension; a newer "
        "release of "
        "it may",
        code=constants.DL_NOT_SUPPORTED,
        operation=name,
        vendor=instance.name,
    )


def create_owned(
    owner: object,
    instance: Instance,
    create: Callable[[CData], None],
    destroy: Callable[[CData], None],
    what: str,
) -> CData:
    """Create a vendor's object, which is destroyed with its owner and keeps the instance alive.

    :param create: function that stores the handle in its ``void**`` argument.
    :param what: name of the object in the log if ``destroy`` fails.
    """
    pointer = ffi.new("void**")
    instance.lifetime.hold()
    try:
        create(pointer)
    except BaseException:
        instance.lifetime.drop()
        raise
    made = pointer[0]

    def release() -> None:
        try:
            destroy(made)
        except DiopiError:
            _log.exception("vendor %s: destroying a %s failed", instance.name, what)

    weakref.finalize(owner, instance.lifetime.drop, release).atexit = False
    return made
