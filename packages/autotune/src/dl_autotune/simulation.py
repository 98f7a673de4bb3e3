"""Label of results that were measured on a simulated device."""

from __future__ import annotations

SIMULATION_NOTE = (
    "note    simulated: the times are those of a simulator on the host and do not predict a device;"
    " the study is stored under the simulated device alone\n"
)
