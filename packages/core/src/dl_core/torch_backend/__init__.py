"""The part of ``dl_core`` that belongs to torch. Importing it imports torch first.

That order matters: torch's autoload may start the device while this line runs, and then finds every
module of this package whole.
"""

import torch  # noqa: F401

DEVICE = "dl"
"""The name of the device type."""
