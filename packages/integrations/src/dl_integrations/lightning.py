"""dl for Lightning's Trainer, of the package ``lightning``.

``Trainer(accelerator="dl", strategy="dl")`` selects both by name; these are their classes.
"""

from __future__ import annotations

from dl_integrations import lightning_names

Accelerator, Strategy = lightning_names.classes("lightning.pytorch")

__all__ = ["Accelerator", "Strategy"]
