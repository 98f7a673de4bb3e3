"""Plugin that dl finds by its entry point. ``import torch`` imports it: it must load no library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pluggy

from diopi_proto.descriptor import VendorDescriptor
from diopi_proto.operator_library import describe_functions

from . import __version__

if TYPE_CHECKING:
    from dl_core.contributions import Contribution

hookimpl = pluggy.HookimplMarker("dl")
_FOLDER = Path(__file__).parent


@hookimpl
def dl_vendor() -> VendorDescriptor:
    """Describe the vendor's library. The vendor with the highest priority serves ``dl:0``."""
    return VendorDescriptor(
        name="__chip__",
        library=_FOLDER / "lib" / "libdl_vendor___chip__.so",
        version=__version__,
        priority=10,
        libraries=_libraries,
    )


def _libraries() -> dict[str, str]:
    """Return which functions the SDK's library lacks, for ``dl doctor``."""
    # Replace by the SDK's soname, as in csrc/vendor.h.
    sdk = str(_FOLDER / "lib" / "lib__chip___sdk.so")
    return {"functions of the SDK": describe_functions(_FOLDER / "functions.json", [sdk])}


@hookimpl
def dl_conformance_profiles() -> Sequence[Contribution]:
    """Promise operators: ``dl conformance --vendor __chip__ --profile __chip__`` tests them."""
    from dl_core.contributions import Contribution

    return [Contribution("__chip__", "operators that __chip__ implements", _profile)]


def _profile() -> dict[str, tuple[str, ...]]:
    from .profile import PROFILE

    return PROFILE
