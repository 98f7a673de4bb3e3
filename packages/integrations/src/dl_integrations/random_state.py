"""The states of dl's random generators as part of a checkpoint."""

from __future__ import annotations

from typing import Any

from dl_integrations.device import dl


class RandomState:
    """Has ``state_dict`` and ``load_state_dict``, as what frameworks put into checkpoints.

    accelerate takes it by ``accelerator.register_for_checkpointing(RandomState())``.
    """

    def state_dict(self) -> dict[str, Any]:
        """One state for each dl device."""
        return {"dl": dl().get_rng_state_all()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Put the generators into such states.

        :raises ValueError: they are of another number of devices.
        """
        dl().set_rng_state_all([each.cpu() for each in state["dl"]])
