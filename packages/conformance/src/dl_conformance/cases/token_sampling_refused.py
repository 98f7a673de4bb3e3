"""Calls that the operators of token_sampling must refuse."""

from dl_conformance.vocabulary import T, refused

CASES = [
    refused(
        "ApplyPenalty",
        dict(
            logits="3x9",
            presence_penalty=T("3", low=-1, high=2),
            frequency_penalty=T("3", low=-1, high=2),
            p_token_ids=T("6", values=[8, 0, 3, 5, 0, 7]),
            p_token_counts=T("6", values=[1, 2, 9, 40, 1, 3]),
            p_cumsum_seq_len=T("4", values=[0, 4, 4, 6]),
            p_max_len_in_batch=4,
        ),
        dict(logits="3x9x1"),
        dict(logits="4x9"),
        dict(frequency_penalty=T("3x1", low=-1, high=2)),
        dict(p_token_ids=T("6x1", values=[8, 0, 3, 5, 0, 7])),
        dict(p_token_ids=T("7", values=[8, 0, 3, 5, 0, 7])),
        dict(p_cumsum_seq_len=T("4x1", values=[0, 4, 4, 6])),
        dict(p_max_len_in_batch=-1),
        dict(logits=T("3x9", low=0, high=1, dtype="int64")),
        data=[
            dict(logits="3x8"),  # without token 8
            dict(p_token_ids=T("6", values=[-9])),
            dict(p_cumsum_seq_len=T("4", values=[-9])),
        ],
    ),
    refused(
        "ApplyPenaltyV2",
        dict(
            logits="3x9",
            presence_penalty=T("5", low=-1, high=2),
            frequency_penalty=T("5", low=-1, high=2),
            repetition_penalty=T("5", low=0.5, high=2),
            p_token_ids=T("5", values=[26, 0, 13, 7, 9]),
            p_token_counts=T("5", values=[1, 3, 2, 7, 1]),
        ),
        dict(repetition_penalty=T("5x1", low=0.5, high=2)),
        data=[dict(p_token_ids=T("5", values=[-9]))],
    ),
    refused(
        "BatchApplyRepetitionPenaltyInp",
        dict(
            logits="3x9",
            penalties=T("3", low=0.5, high=2),
            output_ids=T(
                "6x3", values=[[1, 2, 0], [3, 8, 0], [5, -1, 4], [8, 99, 6], [7, 6, 1], [0, 7, 7]]
            ),
            batch_size=3,
            vocab_size=9,
            input_lengths=T("3", values=[4, 2, 3]),
            max_input_length=4,
            step=5,
            penalty_type=2,
        ),
        dict(logits="3x9x1"),
        dict(penalties=T("3x1", low=0.5, high=2)),
        dict(input_lengths=T("3x1", values=[4, 2, 3])),
        dict(step=-1),
        dict(
            output_ids=T(
                "6x3x1", values=[[1, 2, 0], [3, 8, 0], [5, -1, 4], [8, 99, 6], [7, 6, 1], [0, 7, 7]]
            )
        ),
        data=[dict(output_ids=T("6x3", values=[-9])), dict(input_lengths=T("3", values=[99]))],
    ),
    refused(
        "BatchApplyTemperaturePenaltyInp",
        dict(
            logits="3x41",
            bias="41",
            temperatures=T("3", low=0.1, high=2),
            batch_size=3,
            vocab_size=37,
            vocab_size_padd=41,
        ),
        dict(bias="41x1"),
        dict(temperatures=T("3x1", low=0.1, high=2)),
        dict(vocab_size=-1),
    ),
    refused(
        "SetupTopkRuntimeArgsInp",
        dict(
            top_ks=T("5", values=[0, 0, 5, 2000, 7]),
            top_ps=T("5", values=[0.0, 0.75, 0.0, 1.5, -0.25]),
            batch_size=5,
            top_k=3,
            top_ks_size=5,
            top_p=0.5,
            top_ps_size=5,
        ),
        dict(top_ks=T("5x1", values=[0, 0, 5, 2000, 7])),
        dict(top_ps=T("5x1", values=[0.0, 0.75, 0.0, 1.5, -0.25])),
        dict(skip_decode="5x1"),
    ),
    refused(
        "SetupToppRuntimeArgsInp",
        dict(
            top_ks=T("5", values=[0, 0, 5, 2000, 7]),
            top_ps=T("5", values=[0.0, 0.75, 0.0, 1.5, -0.25]),
            batch_size=5,
            top_k=3,
            top_ks_size=5,
            top_p=0.5,
            top_ps_size=5,
            top_p_decay=0.25,
            top_p_min=0.75,
            top_p_reset_ids=3,
        ),
        dict(initial_top_p_buf="5x1"),
        dict(top_p_decay_buf="5x1"),
        dict(top_p_min_buf="5x1"),
        dict(top_p_reset_ids_buf="5x1"),
    ),
    refused(
        "BanBadWordsInp",
        dict(
            logits="2x9",
            output_ids=T(
                "6x3", values=[[9, 9, 1], [6, 6, 3], [7, 7, 2], [3, 8, 9], [3, 2, 6], [4, 3, 5]]
            ),
            bad_words=T(
                "2x2x6",
                values=[
                    [[3, 4, 5, 6, 7, 8], [2, 3, 6, -1, -1, -1]],
                    [[2, 0, 0, 0, 0, 0], [1, 2, -1, -1, -1, -1]],
                ],
            ),
            id_offset=0,
            bad_words_len=6,
            share_words=False,
            batch_size=2,
            vocab_size=9,
            step=4,
        ),
        dict(id_offset=-1),
        dict(bad_words_len=0),
        dict(share_words=True),
        dict(step=-1),
        dict(
            output_ids=T(
                "6x3x1", values=[[9, 9, 1], [6, 6, 3], [7, 7, 2], [3, 8, 9], [3, 2, 6], [4, 3, 5]]
            )
        ),
        data=[dict(bad_words=T("2x2x6", values=[99]))],
    ),
    refused(
        "StopWordsCriterion",
        dict(
            output_ids=T(
                "6x3", values=[[9, 9, 1], [6, 6, 3], [7, 7, 2], [3, 8, 9], [3, 2, 6], [4, 3, 5]]
            ),
            stop_words=T(
                "2x2x6",
                values=[
                    [[3, 4, 5, 6, 7, 8], [2, 3, 6, -1, -1, -1]],
                    [[2, 0, 0, 0, 0, 0], [1, 2, -1, -1, -1, -1]],
                ],
            ),
            finished=T("2", values=[False, False]),
            id_offset=0,
            stop_words_len=6,
            batch_size=2,
            step=5,
        ),
        dict(finished=T("2x1", values=[False, False])),
        data=[dict(stop_words=T("2x2x6", values=[99]))],
    ),
    refused(
        "LengthCriterion",
        dict(
            finished=T("4", values=[False, True, False, False]),
            sequence_limit_length=T("4", values=[5, 9, 4, 6]),
            batch_size=4,
            step=5,
        ),
        dict(should_stop="2"),
        dict(sequence_limit_length=T("4x1", values=[5, 9, 4, 6])),
    ),
    refused(
        "TopKSampling",
        dict(
            output_ids=T("3x5", low=50, high=90),
            logits=T("5x41", low=-4, high=4),
            fusion_level=0,
            end_ids=T("5", values=[7, 7, 7, 7, 7]),
            finished=T("5", values=[False, True, False, True, False]),
            sequence_lengths=T("5", values=[3, 4, 5, 6, 7]),
            step=1,
            vocab_size_padded=41,
            runtime_top_p=T("5", values=[1.0, 0.9, 0.5, 0.25, 0.75]),
            skip_decode=T("5", values=[False, False, True, True, False]),
            cum_log_probs=T("5", values=[-1.5, -2.5, -3.5, -4.5, 0.0]),
            output_log_probs=T("5", values=[9, 9, 9, 9, 9]),
            generators=[(5, 0), (6, 0), (5, 1), (7, 3), (9, 2)],
            runtime_top_k=T("5", values=[41, 1, 9, 4, 20]),
        ),
        dict(end_ids=T("5x1", values=[7, 7, 7, 7, 7])),
        dict(sequence_lengths=T("5x1", values=[3, 4, 5, 6, 7])),
        dict(runtime_top_k=T("5x1", values=[41, 1, 9, 4, 20])),
        dict(runtime_top_p=T("5x1", values=[1.0, 0.9, 0.5, 0.25, 0.75])),
        dict(cum_log_probs=T("5x1", values=[-1.5, -2.5, -3.5, -4.5, 0.0])),
        dict(output_log_probs=T("5x1", values=[9, 9, 9, 9, 9])),
    ),
]
