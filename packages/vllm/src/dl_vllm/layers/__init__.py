"""Layers of vLLM on dl's operators."""
