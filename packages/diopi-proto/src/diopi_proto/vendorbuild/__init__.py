"""Implementation of :mod:`diopi_proto.build`, the public module."""
