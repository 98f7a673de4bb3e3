"""The engine ``inductor``: torch's own compiler for the CPU, applied to memory of the device.

If the CPU can access a device's memory, code that Inductor compiles for the CPU runs on CPU tensors
that share the storages of dl tensors. Neither inputs nor results are copied.
"""
