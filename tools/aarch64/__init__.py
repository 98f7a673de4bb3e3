"""Build and test for aarch64 on an x86-64 machine with Debian, in an emulated root filesystem.

Python and the tests run by qemu; the compiler is the machine's own cross compiler, copied into the
root filesystem, so that setup.py finds an ordinary aarch64 machine with an ordinary compiler.
"""
