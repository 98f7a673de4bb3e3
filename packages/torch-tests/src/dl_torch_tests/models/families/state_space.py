"""State-space models and linear attention, whose state has a fixed size."""

from __future__ import annotations

from .decoders import SIZE, decoder

STATE = {**SIZE, "state_size": 4}
MAMBA_2 = {
    "mamba_n_heads": 4,
    "mamba_d_head": 16,
    "mamba_d_state": 4,
    "mamba_n_groups": 1,
    "mamba_chunk_size": 4,
}

FAMILIES = [
    decoder("Mamba", "Mamba", STATE),
    decoder("Mamba 2", "Mamba2", STATE, num_heads=4, head_dim=16, n_groups=1, chunk_size=4),
    decoder("Falcon Mamba", "FalconMamba", STATE),
    decoder("RWKV", "Rwkv", SIZE, attention_hidden_size=32, intermediate_size=48),
    decoder(
        "RecurrentGemma",
        "RecurrentGemma",
        lru_width=32,
        attention_window_size=6,
        block_types=["recurrent", "attention"],
    ),
    decoder(
        "Jamba",
        "Jamba",
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
        num_experts=4,
        mamba_d_state=4,
        mamba_dt_rank=4,
        use_mamba_kernels=False,
    ),
    decoder("Bamba", "Bamba", **MAMBA_2, attn_layer_indices=[1]),
    decoder(
        "Zamba 2",
        "Zamba2",
        mamba_d_state=4,
        n_mamba_heads=4,
        mamba_headdim=16,
        chunk_size=4,
        layers_block_type=["mamba", "hybrid"],
        num_mem_blocks=1,
    ),
    decoder("Falcon-H1", "FalconH1", **MAMBA_2, mamba_d_ssm=64),
    decoder("LFM2", "Lfm2", layer_types=["conv", "full_attention"]),
    decoder("MiniMax", "MiniMax", num_local_experts=4, block_size=4),
]
