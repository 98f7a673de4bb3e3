"""Subcommands of ``dl``. They import torch only when they run."""
