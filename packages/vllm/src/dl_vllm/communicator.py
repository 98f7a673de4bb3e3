"""Collective operations of tensor and pipeline parallelism, over ``dicl``. Needs vLLM."""

from __future__ import annotations

from vllm.distributed.device_communicators.base_device_communicator import DeviceCommunicatorBase


class DlCommunicator(DeviceCommunicatorBase):  # type: ignore[misc]  # vLLM need not be installed
    """vLLM's collectives of ``torch.distributed``, whose backend on dl is ``dicl``."""
