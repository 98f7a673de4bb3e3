"""Causes of differences from torch's CPU, each with a reason and a precise predicate.

A difference that no cause explains fails the session. Causes are true limits of torch or of dl,
never faults that could be fixed.
"""

from __future__ import annotations

from .cause import Cause
from .causes_of_errors import ERRORS
from .causes_of_images import IMAGES
from .causes_of_layouts import LAYOUTS
from .causes_of_matrices import MATRICES
from .causes_of_networks import NETWORKS
from .causes_of_values import VALUES
from .judge import Difference

CAUSES: tuple[Cause, ...] = (*ERRORS, *VALUES, *NETWORKS, *IMAGES, *MATRICES, *LAYOUTS)


def cause_of(difference: Difference) -> str | None:
    """Return the reason for the difference, or None if there is none."""
    return next((cause.reason for cause in CAUSES if cause.covers(difference)), None)
