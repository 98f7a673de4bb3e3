"""The main job: train the examples on ``dl`` and on the CPU, compare, and report.

``python -m tools.train_job`` from the repository root, in an environment with the wheels.
"""
