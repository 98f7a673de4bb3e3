"""The engine ``inductor``: torch's own compiler for the CPU, applied to memory of the device.

Where the CPU can compute in a device's memory, what Inductor compiles for the CPU runs on CPU
tensors over the storages of dl tensors. Nothing is copied, neither in nor out.
"""
