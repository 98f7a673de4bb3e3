"""The torch-dependent part of ``dl_core``. Importing it imports torch first.

The order matters: during the import below, torch's autoload may start the device, which then finds
every other module of this package complete.
"""

DEVICE = "dl"
"""The name of the device type."""

import torch  # noqa: E402, F401 - autoload needs DEVICE
