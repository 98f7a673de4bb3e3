"""Entry point that registers dl with frameworks in programs that do not import this wheel.

torch calls :func:`autoload` near the end of its own import, through the entry-point group
``torch.backends``. This module imports neither torch nor a framework.
"""

from __future__ import annotations

from collections.abc import Callable

from dl_core.when_imported import watch
from dl_integrations.wrappers import all_wrappers
from dl_integrations.wrappers.wrapper import Wrapper


def autoload() -> None:
    """Register dl with each framework when a program imports it.

    A framework may be partially imported now, if it is importing torch. The watched modules are
    therefore those that a framework imports after torch, but before it asks for a device.
    """
    _start_device()
    trainer = "trainer.connectors.accelerator_connector"
    watch(
        {
            "accelerate.state": _tell_accelerate,
            **{
                f"{package}.connector": _registration("lightning_fabric_names", package)
                for package in ("lightning.fabric", "lightning_fabric")
            },
            **{
                f"{package}.{trainer}": _registration("lightning_names", package)
                for package in ("lightning.pytorch", "pytorch_lightning")
            },
        },
        after={
            **_wrappers(),
            "deepspeed.accelerator.real_accelerator": [_tell_deepspeed],
        },
    )


def _start_device() -> None:
    """Start dl before frameworks are changed; torch calls entry points in any order."""
    from dl_core import _entry

    _entry.autoload()


def _wrappers() -> dict[str, list[Callable[[], None]]]:
    """Return the installations of all wrappers by the module that they follow."""
    found: dict[str, list[Callable[[], None]]] = {}
    for wrapper in all_wrappers():
        found.setdefault(wrapper.after or wrapper.module, []).append(_installation(wrapper))
    return found


def _installation(wrapper: Wrapper) -> Callable[[], None]:
    def install() -> None:
        from dl_integrations.device import is_there

        if is_there():
            wrapper.install()

    return install


def _tell_accelerate() -> None:
    from dl_integrations.device import is_there
    from dl_integrations.environment import suggest

    if is_there():
        suggest("ACCELERATE_TORCH_DEVICE", "dl")


def _tell_deepspeed() -> None:
    from dl_integrations.device import is_there

    if is_there():
        from dl_integrations.deepspeed import register

        register()


def _registration(module: str, package: str) -> Callable[[], None]:
    def register() -> None:
        from importlib import import_module

        from dl_integrations.device import is_there

        if is_there():
            import_module(f"dl_integrations.{module}").register(package)

    return register
