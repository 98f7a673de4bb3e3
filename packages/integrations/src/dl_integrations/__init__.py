"""The dl device in frameworks that have lists of device names, by their own extension points.

Frameworks are not patched. Each module needs only its own framework:
:mod:`.accelerate`, :mod:`.transformers`, :mod:`.lightning`, :mod:`.fabric`, :mod:`.safetensors`.
"""

__version__ = "0.1.0"
