"""Captured calls run again: checked, timed, or made into scripts."""
