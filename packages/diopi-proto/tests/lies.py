"""What ``fixtures/lies.cpp`` can be made to lie about, and what every host says of it."""

from __future__ import annotations

MISLEADING = r"a�\nProblems: none\x1b[2J\u202e"

AT_LOAD = {
    "instance_is_nowhere": "returns an instance at 0x123450, which is no memory",
    "table_is_nowhere": "returns a table at 0x123450, which is no memory",
    "instance_is_almost_null": "returns an instance at 0x1, which is no memory",
    "table_is_huge": "bytes, which is more than is there",
    "name_is_nowhere": "whose name is no text",
    "name_has_no_end": "whose name is no text",
    "version_is_nowhere": "whose version is no text",
    "slot_is_nowhere": "at 0x123450, which is no memory",
    "extension_is_nowhere": "returns an extension at 0x123450, which is no memory",
    "extension_is_endless": "returns extensions without an end",
    "extension_is_empty": "returns an extension of 0 bytes",
    "entry_throws": "it threw an exception: entry ran away",
    "operators_are_missing": "its list of 2 operators",
    "operators_are_nowhere": "its list of 2 operators at 0x123450 is no memory",
    "operators_are_too_many": "it says that it has",
    "operators_are_fewer": "60000",
    "operator_has_no_name": "operator 1 of 2 has no name",
    "operator_name_is_nowhere": "operator 1 of 2 has no name",
    "operator_name_has_no_end": "operator 1 of 2 has no name",
    "operator_is_nowhere": "operator 1 of 2 is at 0x123450, which is no memory",
    "operators_throw": "it threw an exception: operators ran away",
    "count_is_negative": "it says that it has -1 devices",
    "count_is_impossible": "it says that it has 2147483647 devices",
    "count_throws": "it threw an exception that is not a std::exception",
}
"""Lies that are found out before anything can be done with the vendor."""

AT_PROPERTIES = {
    "properties_are_longer": "it writes beyond the",
    "properties_throw": "it threw an exception: properties ran away",
}
AT_ALLOCATION = {
    "memory_is_missing": "it reports success without memory",
    "memory_is_misaligned": "is not aligned to 64 bytes",
    "memory_throws": "it threw an exception: std::bad_alloc",
    "status_is_nowhere": "it failed with a status at 0x123450, which is no memory",
    "status_is_almost_null": "it failed with a status at 0x1, which is no memory",
    "status_is_short": "it failed with code 1 and gave no reason",
    "status_is_shorter": "it failed with a status of 4 bytes",
    "status_is_huge": "it failed with a status of 18446744073709551615 bytes",
    "status_has_no_text": "it failed with code 1 and gave no reason",
    "status_text_is_nowhere": "(no text is at 0x123450)",
    "status_text_has_no_end": "(no text is at 0x",
    "status_text_misleads": MISLEADING,
    "status_operation_is_nowhere": "the fan stands still",
    "status_release_is_nowhere": "the fan stands still",
    "status_has_no_release": "the fan stands still",
    "status_says_success": "the fan stands still",
    "status_code_is_from_the_future": "the fan stands still",
}
AT_INFO = {
    "info_is_negative": "18446744073709551611 of 18446744073709551611 bytes are free",
    "info_is_upside_down": "3 of 2 bytes are free",
}
AT_OPERATOR = {
    "last_error_is_nowhere": "(no text is at 0x123450)",
    "last_error_has_no_end": "(no text is at 0x",
    "last_error_misleads": MISLEADING,
    "last_error_throws": "reason",
    "nothing": "it does not like the sign",
}
HARMLESS = (
    *("version_is_missing", "table_ends_within_a_field", "operator_name_misleads"),
    *("operator_is_missing", "properties_have_no_end", "architecture_has_no_end"),
    *("properties_mislead", "properties_change_their_size", "name_misleads"),
    *("free_throws", "destroy_throws", "nothing"),
)
"""Lies that cost nothing, or only the text of a name."""
