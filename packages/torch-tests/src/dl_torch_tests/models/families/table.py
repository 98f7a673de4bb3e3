"""All families, by group."""

from __future__ import annotations

from . import (
    audio,
    decoders,
    dense,
    encoders,
    generative,
    geometry,
    moe,
    multimodal,
    recurrent,
    seq2seq,
    series,
    state_space,
    tabular,
    video,
    vision,
)
from .family import Family

GROUPS: dict[str, list[Family]] = {
    "Decoders": decoders.FAMILIES,
    "Mixtures of experts": moe.FAMILIES,
    "State spaces and recurrences": state_space.FAMILIES,
    "Encoders": encoders.FAMILIES,
    "Encoders with decoders": seq2seq.FAMILIES,
    "Images to classes": vision.FAMILIES,
    "Images to boxes, masks and depths": dense.FAMILIES,
    "Videos": video.FAMILIES,
    "Sound": audio.FAMILIES,
    "Text with images": multimodal.FAMILIES,
    "Series": series.FAMILIES,
    "Sequences without attention, and torch's own": recurrent.FAMILIES,
    "Made images": generative.FAMILIES,
    "Points, graphs and cells": geometry.FAMILIES,
    "Rows and pairs": tabular.FAMILIES,
}

FAMILIES = {family.name: family for group in GROUPS.values() for family in group}
