"""Loading of vendor libraries."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ..adaptor import AdaptorFile, read_adaptor
from ..added import AddedLibrary
from ..errors import AdaptorError, VendorLoadError
from ..legacy import LegacyOperators
from ..loading import open_library
from ..trial import admitted
from .hosttable import HostTable, default_host
from .legacy import LegacyInstance
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
    runtime: str | Path | None = None,
    added: Sequence[AddedLibrary] = (),
) -> Vendor:
    """Load a vendor library and create an instance of it.

    The library is opened with RTLD_LOCAL after its file was checked, and stays loaded. Several
    vendors, and several instances of one library, can be used at the same time.

    :param legacy: the library exports DIOPI's operators by name instead of ``dl_vendor_v1``.
    :param probe: load it in a child process first, so that a crash, a hang or an exit is an error
        here. Successful trials are cached; see :mod:`diopi_proto.trial`.
    :param host: host table for the vendor; None: the process's default, which logs with
        ``logging``.
    :param adaptor: path of the adaptor file, which lists the dtypes and memory formats to convert
        for its operators; see docs/adaptor.md.
    :param runtime: for a legacy library, path of the library whose vendor table has the devices,
        memory, streams and events on which it runs; see docs/legacy.md. None: it runs in host
        memory.
    :param added: libraries with operators that are called before the vendor's own, in this order.
    :raises AdaptorError: that file is invalid.
    :raises VendorLoadError: it cannot be loaded; the message has the reason and the remedy.
    :raises AbiMismatchError: it was built for another major version of the vendor interface.
    :raises VendorError: the library refused to create an instance.
    """
    path = Path(path).absolute()
    if adaptor is not None and legacy:
        raise AdaptorError(
            f"{adaptor}: {path} is a library in DIOPI's own style, which does not support "
            "adaptors; give it a vendor table (docs/vendor.md), or remove the file from its "
            "description"
        )
    if runtime is not None and not legacy:
        raise VendorLoadError(
            f"{path} has a vendor table of its own; a runtime ({runtime}) is for libraries in "
            "DIOPI's own style, which are loaded with legacy=True"
        )
    if added and legacy and runtime is None:
        raise VendorLoadError(
            f"{path} is a library in DIOPI's own style, to which no operators can be added; load "
            "it over a runtime (docs/legacy.md)"
        )
    rules = None if adaptor is None else read_adaptor(adaptor)
    base = None if runtime is None else Path(runtime).absolute()
    with ExitStack() as admissions:
        for tried, is_legacy in ((base, False), (path, legacy)):
            if not probe or tried is None:
                continue
            if untried := admissions.enter_context(admitted(tried, legacy=is_legacy)):
                _log.warning("%s is loaded without a trial: %s", tried, untried)
        if base is not None:
            return _load_over(base, path, host, added)
        return _load(path, legacy, host, rules, added)


def _load(
    path: Path,
    legacy: bool,
    host: HostTable | None,
    rules: AdaptorFile | None,
    added: Sequence[AddedLibrary],
) -> Vendor:
    library, elf = open_library(path, legacy=legacy)
    host = host or default_host()
    instance = (
        LegacyInstance(library, elf, host)
        if legacy
        else TableInstance(library, path, host, rules, added=added)
    )
    _log.debug("loaded vendor %s %s from %s", instance.name, instance.version, path)
    return Vendor(instance, path)


def _load_over(
    runtime: Path, path: Path, host: HostTable | None, added: Sequence[AddedLibrary]
) -> Vendor:
    """Load a legacy library over the table of its runtime."""
    library, _ = open_library(runtime)
    operators = LegacyOperators(path)
    try:
        instance = TableInstance(library, runtime, host or default_host(), None, operators, added)
    except BaseException:
        operators.end()
        raise
    _log.debug("loaded operators of %s over vendor %s of %s", path, instance.name, runtime)
    return Vendor(instance, path)
