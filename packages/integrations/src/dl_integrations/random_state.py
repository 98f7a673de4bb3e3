"""The states of dl's random generators as part of a checkpoint."""

from __future__ import annotations

from typing import Any

from dl_integrations.device import dl


class RandomState:
    """Object with ``state_dict`` and ``load_state_dict``, which frameworks save in checkpoints.

    For accelerate, use ``accelerator.register_for_checkpointing(RandomState())``.
    """

    def state_dict(self) -> dict[str, Any]:
        """Return the state of each dl device."""
        return {"dl": dl().get_rng_state_all()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Set the states of the generators.

        :raises ValueError: the number of devices differs.
        """
        dl().set_rng_state_all([each.cpu() for each in state["dl"]])
