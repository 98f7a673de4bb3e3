"""From a path to a vendor."""

from __future__ import annotations

import logging
from pathlib import Path

from ..errors import VendorLoadError
from .hosttable import HostTable, default_host
from .legacy import LegacyInstance
from .library import open_library
from .probe import probe_library
from .tableinstance import TableInstance
from .vendor import Vendor

_log = logging.getLogger("diopi_proto.vendor")


def load_vendor(
    path: str | Path, *, legacy: bool = False, probe: bool = False, host: HostTable | None = None
) -> Vendor:
    """Load a vendor library and create an instance of it.

    The library is opened for this caller alone, after its file was checked; it stays loaded.
    Several vendors, and several instances of one library, live side by side.

    :param legacy: the library exports DIOPI's operators by name instead of ``dl_vendor_v1``.
    :param probe: load it in another process first, so that one that crashes is an error here.
    :param host: what is offered to the vendor; None: the process's own, with Python's ``logging``.
    :raises VendorLoadError: it cannot be loaded; the message says why and what to do.
    :raises AbiMismatchError: it was built for another major version of the vendor interface.
    :raises VendorError: the library refused to make an instance.
    """
    path = Path(path).absolute()
    if probe and path.is_file():
        result = probe_library(path, legacy=legacy)
        if not result.safe:
            raise VendorLoadError(result.message)
    library, elf = open_library(path, legacy=legacy)
    host = host or default_host()
    instance = LegacyInstance(library, elf, host) if legacy else TableInstance(library, path, host)
    _log.debug("loaded vendor %s %s from %s", instance.name, instance.version, path)
    return Vendor(instance, path)
