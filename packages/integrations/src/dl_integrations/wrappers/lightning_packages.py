"""The packages of Lightning, each of which is published under two names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dl_integrations.wrappers.wrapper import Wrapper

VERSIONS = ("2.6.6",)
CONNECTORS = (
    "trainer.connectors.accelerator_connector:_AcceleratorConnector",
    "connector:_Connector",
)
"""Classes of the Trainer and of Fabric that choose devices, as ``MODULE:CLASS``."""


def wrappers(
    classes: tuple[str, str],
    methods: tuple[str, str],
    digests: tuple[str, str],
    reason: str,
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> list[Wrapper]:
    """Return the wrappers of a method that the Trainer and Fabric have, in this order.

    :param classes: ``MODULE:CLASS`` in their packages.
    """
    packages = ("lightning.pytorch", "pytorch_lightning"), ("lightning.fabric", "lightning_fabric")
    found = []
    for names, place, method, digest in zip(packages, classes, methods, digests, strict=True):
        module, _, owner = place.partition(":")
        found += [
            Wrapper(f"{name}.{module}", f"{owner}.{method}", VERSIONS, digest, reason, wrap)
            for name in names
        ]
    return found
