"""Replay of captured calls: checks, timing, and export as scripts."""
