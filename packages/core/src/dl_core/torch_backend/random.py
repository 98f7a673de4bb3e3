"""Random numbers: one generator per device, Philox with a seed and an offset."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from dl_core import _C
from dl_core.torch_backend import DEVICE
from dl_core.torch_backend._utils import DeviceLike, existing_index


def _generator(operation: str, device: DeviceLike) -> torch.Generator:
    return _C.default_generator(existing_index(operation, device))


def _generators() -> tuple[torch.Generator, ...]:
    return tuple(_C.default_generator(index) for index in range(_C.device_count()))


def _get_generator(device: torch.device) -> torch.Generator:
    return _generator("_get_generator", device)


def get_rng_state(device: DeviceLike = DEVICE) -> torch.Tensor:
    """Return the state of the device's generator: a one-dimensional uint8 tensor on the CPU."""
    return _generator("get_rng_state", device).get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    """Return :func:`get_rng_state` of every device."""
    return [generator.get_state() for generator in _generators()]


def set_rng_state(new_state: torch.Tensor, device: DeviceLike = DEVICE) -> None:
    """Set the state of the device's generator to one of :func:`get_rng_state`."""
    _generator("set_rng_state", device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """Call :func:`set_rng_state` for every device, in order.

    :raises ValueError: the number of states differs from the number of devices.
    """
    generators, states = _generators(), list(new_states)
    if len(states) != len(generators):
        raise ValueError(
            f"[torch.dl.set_rng_state_all] {len(states)} states for "
            f"{len(generators)} devices; give one for each"
        )
    for generator, state in zip(generators, states, strict=True):
        generator.set_state(state)


def manual_seed(seed: int) -> None:
    """Seed the current device's generator."""
    _generator("manual_seed", None).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices. :func:`torch.manual_seed` calls this."""
    for generator in _generators():
        generator.manual_seed(int(seed))


def seed() -> None:
    """Seed the current device's generator with a random number."""
    _generator("seed", None).seed()


def seed_all() -> None:
    """Seed the generators of all devices with one random number."""
    manual_seed_all(torch.Generator().seed())


def initial_seed() -> int:
    """Return the seed of the current device's generator."""
    return _generator("initial_seed", None).initial_seed()
