"""Batch preparation in a language-model server: tokens, lengths, padding, embedded inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dl_conformance.reference import Array, reference


@reference("diopiGatherOutput")
def gather_output(
    *,
    ids: Array,
    context_length: Array,
    max_context_len: int,
    max_gen_step: int,
    max_output_len: int,
    batch_size: int,
) -> dict[str, Any]:
    out = np.zeros((batch_size, max_output_len), np.int64)
    for b, length in enumerate(context_length):
        kept = [s for s in range(max_gen_step) if s < length or s >= max_context_len]
        tokens = ids[kept[:max_output_len], b]
        out[b, : len(tokens)] = tokens
    return {"output_ids": out}


@reference("diopiPlusScalarInp")
def plus_scalar(*, inoutput: Array, val: int, size: int) -> dict[str, Any]:
    out = inoutput.copy()
    out.reshape(-1)[:size] += np.asarray(val, out.dtype)
    return {"inoutput": out}


@reference("diopiUpdatePaddingCount")
def padding_count(
    *, input_lengths: Array, max_input_length: int, batch_size: int
) -> dict[str, Any]:
    return {"total_padding_count": max_input_length - input_lengths}


@reference("diopiTransposeAxis01")
def transpose(*, input: Array, dim0: int, dim1: int, dim2: int) -> dict[str, Any]:
    return {"output": input.swapaxes(0, 1)}


@reference("diopiEmbeddingLookupPosEncoding")
def embedding_of_step(
    *, embedding_table: Array, all_ids: Array, batch_size: int, hidden_units: int, step: int
) -> dict[str, Any]:
    return {"from_tensor": embedding_table[all_ids[step]]}


@reference("diopiInputIdsEmbeddingLookupPosEncoding")
def embedding_of_prompt(
    *, input_ids: Array, embedding_table: Array, input_lengths: int, hidden_units: int
) -> dict[str, Any]:
    return {"from_tensor": embedding_table[input_ids.reshape(-1)]}
