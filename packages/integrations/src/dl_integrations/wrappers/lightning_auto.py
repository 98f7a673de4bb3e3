"""``Trainer(accelerator="auto")`` and ``Fabric()``: the list of accelerators to choose from."""

from __future__ import annotations

from collections.abc import Callable

from dl_integrations.device import DEVICE
from dl_integrations.wrappers.wrapper import Wrapper


def _wrap(original: Callable[[], str]) -> Callable[[], str]:
    def choose() -> str:
        found = original()
        return DEVICE if found == "cpu" else found

    return choose


_PARSER = "utilities.device_parser", "_select_auto_accelerator"
_FABRIC = "connector", "_Connector._choose_auto_accelerator"
WRAPPERS = [
    Wrapper(f"{package}.{module}", name, ("2.6.6",), digest, "Trainer(), Fabric()", _wrap)
    # The two packages import from themselves, so that one function has two digests.
    for package, (module, name), digest in (
        ("lightning.fabric", _PARSER, "e639b5266506a2f5"),
        ("lightning_fabric", _PARSER, "28d49816fb235a9b"),
        ("lightning.fabric", _FABRIC, "7f9da026b1248742"),
        ("lightning_fabric", _FABRIC, "7f9da026b1248742"),
    )
]
