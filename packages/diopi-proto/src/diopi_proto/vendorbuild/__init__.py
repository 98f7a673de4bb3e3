"""The parts of :mod:`diopi_proto.build`, which is what others import."""
