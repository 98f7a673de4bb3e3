"""Survey of dl-core's use of torch: which files could use torch's stable ABI, and what is missing.

``python -m tools.stable_abi`` from the repository root prints the tables of
docs/explanation/stable-abi.md. ``--signatures``, in an environment with dl-core and a compiler,
also compiles a probe and prints which signatures of dl-core's operators the stable ABI can pass.
"""
