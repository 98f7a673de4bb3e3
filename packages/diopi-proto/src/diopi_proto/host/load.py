"""From a path to a vendor."""

from __future__ import annotations

import logging
from pathlib import Path

from ..adaptor import AdaptorFile, read_adaptor
from ..errors import AdaptorError
from ..trial import admitted
from .hosttable import HostTable, default_host
from .legacy import LegacyInstance
from .library import open_library
from .tableinstance import TableInstance
from .vendor import Vendor

_log = logging.getLogger("diopi_proto.vendor")


def load_vendor(
    path: str | Path,
    *,
    legacy: bool = False,
    probe: bool = False,
    host: HostTable | None = None,
    adaptor: str | Path | None = None,
) -> Vendor:
    """Load a vendor library and create an instance of it.

    The library is opened for this caller alone, after its file was checked; it stays loaded.
    Several vendors, and several instances of one library, live side by side.

    :param legacy: the library exports DIOPI's operators by name instead of ``dl_vendor_v1``.
    :param probe: try it in another process first, so that one that crashes, hangs or ends the
        process is an error here. What went well is remembered; see :mod:`diopi_proto.trial`.
    :param host: what is offered to the vendor; None: the process's own, with Python's ``logging``.
    :param adaptor: the file that says which dtypes and layouts are converted for which of its
        operators; docs/adaptor.md.
    :raises AdaptorError: that file says something that cannot be.
    :raises VendorLoadError: it cannot be loaded; the message says why and what to do.
    :raises AbiMismatchError: it was built for another major version of the vendor interface.
    :raises VendorError: the library refused to make an instance.
    """
    path = Path(path).absolute()
    if adaptor is not None and legacy:
        raise AdaptorError(
            f"{adaptor}: {path} is a library in DIOPI's own style, which has no adaptor; give it a "
            "vendor table (docs/vendor.md), or take the file out of its description"
        )
    rules = None if adaptor is None else read_adaptor(adaptor)
    if not probe:
        return _load(path, legacy, host, rules)
    with admitted(path, legacy=legacy) as untried:
        if untried:
            _log.warning("%s is loaded without having been tried: %s", path, untried)
        return _load(path, legacy, host, rules)


def _load(path: Path, legacy: bool, host: HostTable | None, rules: AdaptorFile | None) -> Vendor:
    library, elf = open_library(path, legacy=legacy)
    host = host or default_host()
    instance = (
        LegacyInstance(library, elf, host) if legacy else TableInstance(library, path, host, rules)
    )
    _log.debug("loaded vendor %s %s from %s", instance.name, instance.version, path)
    return Vendor(instance, path)
