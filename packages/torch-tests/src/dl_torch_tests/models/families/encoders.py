"""Encoder-only language models, trained with masked tokens."""

from __future__ import annotations

from typing import Any

from .batches import masked_text
from .decoders import SIZE
from .family import Family
from .pretrained import by_its_own_loss, pretrained

ENCODER = {**SIZE, "intermediate_size": 48, "type_vocab_size": 2}


def encoder(name: str, kind: str, size: dict[str, Any] = ENCODER, **settings: Any) -> Family:
    """Return the family of a masked language model from transformers."""
    model = kind if kind.endswith(("Model", "ion", "ining")) else f"{kind}ForMaskedLM"
    return Family(name, pretrained(model, **(size | settings)), masked_text, by_its_own_loss)


FAMILIES = [
    encoder("BERT", "Bert"),
    encoder("RoBERTa", "Roberta"),
    encoder("XLM-RoBERTa", "XLMRoberta"),
    encoder("CamemBERT", "Camembert"),
    encoder("MegatronBERT", "MegatronBert"),
    encoder("RemBERT", "RemBert", input_embedding_size=16, output_embedding_size=16),
    encoder("EuroBERT", "EuroBert", num_key_value_heads=2, mask_token_id=4),
    encoder("LayoutLM", "LayoutLM"),
    encoder("ALBERT", "Albert", embedding_size=16),
    encoder("DeBERTa", "Deberta", relative_attention=True, pos_att_type=["p2c", "c2p"]),
    encoder(
        "DeBERTa-v2",
        "DebertaV2",
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        position_buckets=8,
        norm_rel_ebd="layer_norm",
        conv_kernel_size=3,
    ),
    encoder("ELECTRA", "Electra", embedding_size=16),
    encoder("DistilBERT", "DistilBert", SIZE, hidden_dim=48),
    encoder(
        "MobileBERT", "MobileBert", embedding_size=16, intra_bottleneck_size=16, true_hidden_size=16
    ),
    encoder("SqueezeBERT", "SqueezeBert", embedding_size=32),
    encoder("ConvBERT", "ConvBert", embedding_size=32),
    encoder("MPNet", "MPNet"),
    encoder("Longformer", "Longformer", attention_window=4),
    encoder("BigBird", "BigBird", attention_type="original_full"),
    encoder("RoFormer", "RoFormer", embedding_size=32),
    encoder("ESM", "Esm", mask_token_id=4, position_embedding_type="rotary"),
    encoder("I-BERT", "IBert"),
    encoder(
        "ModernBERT",
        "ModernBert",
        local_attention=4,
        global_attn_every_n_layers=2,
        cls_token_id=1,
        sep_token_id=2,
    ),
    encoder(
        "Funnel",
        "Funnel",
        {
            "vocab_size": 64,
            "d_model": 32,
            "n_head": 4,
            "d_head": 8,
            "d_inner": 48,
            "block_sizes": [1, 1],
            "num_decoder_layers": 1,
            "pad_token_id": 0,
        },
    ),
    encoder(
        "XLNet",
        "XLNetLMHeadModel",
        {
            "vocab_size": 64,
            "d_model": 32,
            "n_layer": 2,
            "n_head": 4,
            "d_inner": 48,
            "pad_token_id": 0,
        },
    ),
    encoder("FNet", "FNet", tpu_short_seq_length=12),
]
