"""Program that trains one model: ``python program.py MODEL MODE``."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
from tools.clean_models.models import Training

device = torch.accelerator.current_accelerator()
training = Training(sys.argv[1], sys.argv[2], "cpu" if device is None else device.type)
for _ in range(3):
    print("loss", training.step(), flush=True)
