"""Sweeps run on dl:0, whichever vendor serves it; the terminal summary shows their counts."""

from .fixtures import known, no_stack_walks, one_thread, time_limit, verdict, without_fallback

__all__ = ["known", "no_stack_walks", "one_thread", "time_limit", "verdict", "without_fallback"]
