"""The part of ``dl_core`` that belongs to torch. Importing it imports torch first.

That order matters: torch's autoload may start the device while the import below runs, and then
finds every other module of this package whole.
"""

DEVICE = "dl"
"""The name of the device type."""

import torch  # noqa: E402, F401 - autoload needs the name above
