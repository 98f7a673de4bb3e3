"""The dl device in frameworks that have lists of device names.

Frameworks are extended through their extension points; functions that have none are wrapped by
:mod:`.wrappers`. Each module needs only its own framework:
:mod:`.accelerate`, :mod:`.transformers`, :mod:`.lightning`, :mod:`.fabric`, :mod:`.safetensors`.
"""

__version__ = "0.1.0"
