"""The dl device in frameworks that know devices by name: by their own extension points.

Nothing of theirs is replaced. Each module needs its framework and no other:
:mod:`.accelerate`, :mod:`.transformers`, :mod:`.lightning`, :mod:`.fabric`, :mod:`.safetensors`.
"""

__version__ = "0.1.0"
