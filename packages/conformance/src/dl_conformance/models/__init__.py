"""Shapes of real models: one module for each kind of architecture, one line for each model.

The shapes come from published configurations, which each model names. Sequences are short and
batches have one image, because users choose these sizes, while the width of a model is fixed.
"""
