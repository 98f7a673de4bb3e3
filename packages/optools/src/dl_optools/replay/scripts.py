"""Check of an exported script's call, for machines where this package is installed."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import safe_open

from diopi_proto.foreign_file import check_regular
from dl_optools.bundle.document import read_document
from dl_optools.bundle.errors import BundleError
from dl_optools.bundle.reader import Bundle
from dl_optools.operators import operator
from dl_optools.replay.check import check

DOCUMENT = "bundle"
"""Key of the bundle's JSON in the metadata of a script's file of tensors."""


def find_errors(tensors: Path, device: torch.device) -> list[str]:
    """Return errors of a run of the call on a device, as ``dl replay --check`` judges it.

    :param tensors: the script's file.
    :raises BundleError: the file was not written by ``dl bundle to-repro``.
    :raises UnknownOperatorError: this process has no such operator.
    """
    check_regular(tensors)
    with safe_open(tensors, "pt") as file:
        text = (file.metadata() or {}).get(DOCUMENT)
        if text is None:
            raise BundleError(f"{tensors}: it does not say which call its tensors belong to")
        document = read_document(text)
        storages = tuple(file.get_tensor(f"storage{at}") for at in range(len(document.storages)))
    if document.error is not None:
        # The captured call raised; this one did not.
        return []
    function = operator(document.operator, document.level)
    found = check(Bundle(tensors, document, function, storages), device)
    return [part.detail for part in found.parts if not (part.ok or part.only_recorded)]
