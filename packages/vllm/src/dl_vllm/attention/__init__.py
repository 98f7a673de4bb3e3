"""Attention over vLLM's paged KV cache on dl's operators."""
