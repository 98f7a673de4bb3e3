"""Shapes of real models: one file for each kind of architecture, one line for each model.

They come from the published configurations, whose names each model gives. Few tokens, one image:
how many there are is a user's choice, how wide a model is is not.
"""
