"""Mixture-of-experts models, whose router sends each token to a few experts."""

from __future__ import annotations

from .batches import translation
from .decoders import DELTA, GATED, decoder
from .family import Family
from .pretrained import by_its_own_loss, pretrained

LATENT = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 8,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
}
# One dense layer, then layers of routed experts with one shared expert.
SHARED = {
    "first_k_dense_replace": 1,
    "moe_intermediate_size": 16,
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
}
ROUTED = {
    "moe_intermediate_size": 16,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
}

FAMILIES = [
    decoder("Mixtral", "Mixtral", num_local_experts=4, output_router_logits=True),
    decoder(
        "Qwen2-MoE",
        "Qwen2Moe",
        **ROUTED,
        shared_expert_intermediate_size=16,
        output_router_logits=True,
    ),
    decoder("Qwen3-MoE", "Qwen3Moe", **ROUTED, head_dim=8, output_router_logits=True),
    decoder(
        "Qwen3-Next",
        "Qwen3Next",
        **ROUTED,
        head_dim=8,
        shared_expert_intermediate_size=16,
        **DELTA,
    ),
    decoder("DeepSeek-V2", "DeepseekV2", **LATENT, **SHARED, n_group=2, topk_group=1),
    decoder("DeepSeek-V3", "DeepseekV3", **LATENT, **SHARED, n_group=2, topk_group=1),
    decoder(
        "GPT-OSS",
        "GptOss",
        num_local_experts=4,
        num_experts_per_tok=2,
        head_dim=8,
        sliding_window=6,
    ),
    decoder("OLMoE", "Olmoe", num_experts=4, num_experts_per_tok=2),
    decoder("GraniteMoE", "GraniteMoe", num_local_experts=4, num_experts_per_tok=2),
    decoder("PhiMoE", "Phimoe", num_local_experts=4, num_experts_per_tok=2),
    decoder("JetMoE", "JetMoe", num_local_experts=4, num_experts_per_tok=2, kv_channels=8),
    decoder(
        "DBRX",
        "Dbrx",
        GATED,
        d_model=32,
        n_heads=4,
        n_layers=2,
        max_seq_len=32,
        attn_config={"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8.0},
        ffn_config={"ffn_hidden_size": 16, "moe_num_experts": 4, "moe_top_k": 2, "hidden_size": 32},
    ),
    decoder("GLM-4-MoE", "Glm4Moe", **SHARED, head_dim=8),
    decoder("GLM-4-MoE Lite", "Glm4MoeLite", **LATENT, **SHARED),
    decoder("MiniMax-M2", "MiniMaxM2", num_local_experts=4, num_experts_per_tok=2, head_dim=8),
    decoder(
        "ERNIE 4.5 MoE",
        "Ernie4_5_Moe",
        moe_num_experts=4,
        moe_k=2,
        moe_intermediate_size=16,
        moe_layer_start_index=1,
    ),
    decoder(
        "Llama 4",
        "Llama4",
        head_dim=8,
        num_local_experts=4,
        intermediate_size_mlp=48,
        interleave_moe_layer_step=2,
        attention_chunk_size=6,
    ),
    Family(
        "Switch Transformers",
        pretrained(
            "SwitchTransformersForConditionalGeneration",
            vocab_size=64,
            d_model=32,
            d_ff=48,
            d_kv=8,
            num_layers=2,
            num_decoder_layers=2,
            num_heads=4,
            num_experts=4,
            expert_capacity=8,
            decoder_start_token_id=0,
        ),
        translation,
        by_its_own_loss,
    ),
]
