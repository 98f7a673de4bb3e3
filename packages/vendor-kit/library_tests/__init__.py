"""Shared tests of vendors that use matrix and convolution libraries."""
