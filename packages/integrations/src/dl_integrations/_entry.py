"""The entry point by which frameworks learn of dl in a program that does not know of this wheel.

torch calls :func:`autoload` near the end of its own import, by the entry-point group
``torch.backends``. It imports neither torch nor a framework.
"""

from __future__ import annotations

from collections.abc import Callable

from dl_integrations.when_imported import watch


def autoload() -> None:
    """Register dl with each framework when a program imports it.

    A framework may be half imported now: it is its import that imports torch. So these are modules
    of theirs that come after torch, and before the first that asks for a device.
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
