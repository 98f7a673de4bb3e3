"""Entry point that registers dl with frameworks in programs that do not import this wheel.

torch calls :func:`autoload` near the end of its own import, through the entry-point group
``torch.backends``. This module imports neither torch nor a framework.
"""

from __future__ import annotations

from collections.abc import Callable

from dl_integrations.when_imported import watch


def autoload() -> None:
    """Register dl with each framework when a program imports it.

    A framework may be partially imported now, if it is importing torch. The watched modules are
    therefore those that a framework imports after torch, but before it asks for a device.
    """
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
        }
    )


def _tell_accelerate() -> None:
    from dl_integrations.device import is_there
    from dl_integrations.environment import suggest

    if is_there():
        suggest("ACCELERATE_TORCH_DEVICE", "dl")


def _registration(module: str, package: str) -> Callable[[], None]:
    def register() -> None:
        from importlib import import_module

        from dl_integrations.device import is_there

        if is_there():
            import_module(f"dl_integrations.{module}").register(package)

    return register
