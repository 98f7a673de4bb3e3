"""Lies of ``fixtures/lies.cpp``, and the message with which every host reports each."""

from __future__ import annotations

MISLEADING = r"a�\nProblems: none\x1b[2J\u202e"

AT_LOAD = {
    "instance_is_nowhere": "returns an instance at 0x123450, which is not memory of this process",
    "table_is_nowhere": "returns a table at 0x123450, which is not memory of this process",
    "instance_is_almost_null": "returns an instance at 0x1, which is not memory of this process",
    "table_is_huge": "bytes, which is more than is mapped",
    "name_is_nowhere": "whose name is not text",
    "name_has_no_end": "whose name is not text",
    "version_is_nowhere": "whose version is not text",
    "slot_is_nowhere": "whose device_count is at 0x123450, which is not memory of this process",
    "slot_is_data": "returns a table whose memory_allocate is at 0x",
    "slot_of_extension_is_data": "returns a kernel extension whose launch is at 0x",
    "extension_is_nowhere": "returns an extension at 0x123450, which is not memory of this process",
    "extension_is_endless": "returns an endless chain of extensions",
    "extensions_go_round": "returns an endless chain of extensions",
    "extension_is_empty": "returns an extension of 0 bytes, of type 77; an extension has 24 "
    "readable bytes",
    "entry_throws": "it threw an exception: entry ran away",
    "operators_are_missing": "its list of 3 operators",
    "operators_are_nowhere": "its list of 3 operators at 0x123450 is not memory of this process",
    "operators_are_too_many": "it reports",
    "operators_are_fewer": "60000",
    "operator_has_no_name": "operator 1 of 3 has no name",
    "operator_name_is_nowhere": "operator 1 of 3 has no name",
    "operator_name_has_no_end": "operator 1 of 3 has no name",
    "operator_is_nowhere": "operator 1 of 3, diopiAbs, is at 0x123450, which is not memory",
    "operator_is_data": "operator 1 of 3, diopiAbs, is at 0x",
    "operators_throw": "it threw an exception: operators ran away",
    "count_is_negative": "it reports -1 devices",
    "count_is_impossible": "it reports 2147483647 devices",
    "count_throws": "it threw an exception that is not a std::exception",
}
"""Lies that are detected when the vendor is loaded."""

AT_PROPERTIES = {
    "properties_are_longer": "it writes beyond the",
    "properties_throw": "it threw an exception: properties ran away",
    "padding_is_huge": "it asks for 65537 bytes of allocation padding; at most 65536 are allowed",
    "padding_contradicts": "it asks for 32 bytes of allocation padding, which contradicts "
    "DL_CAP_ANY_HOST_POINTER",
}
AT_ALLOCATION = {
    "memory_is_missing": "it reports success but returns no memory",
    "memory_is_misaligned": "is not aligned to 64 bytes",
    "memory_is_nowhere": "bytes at 0x123440 is not memory that the host can write",
    "memory_is_read_only": "is not memory that the host can write",
    "memory_wraps_around": "bytes at 0xffffffffffffffc0 is not memory that the host can write",
    "memory_is_shorter": "is not memory that the host can write",
    "memory_has_a_hole": "is not memory that the host can write",
    "memory_throws": "it threw an exception: std::bad_alloc",
    "status_is_nowhere": "it failed with a status at 0x123450, which is not memory of this process",
    "status_is_almost_null": "it failed with a status at 0x1, which is not memory of this process",
    "status_is_short": "it failed with code 1 and gave no reason",
    "status_is_shorter": "it failed with a status of 4 bytes",
    "status_is_huge": "it failed with a status of 18446744073709551615 bytes",
    "status_has_no_text": "it failed with code 1 and gave no reason",
    "status_text_is_nowhere": "(invalid string at 0x123450)",
    "status_text_has_no_end": "(invalid string at 0x",
    "status_text_is_long": "x... (5000 bytes)",
    "status_text_misleads": MISLEADING,
    "status_operation_is_nowhere": "the fan stands still",
    "status_release_is_nowhere": "the fan stands still",
    "status_release_is_data": "the fan stands still",
    "status_has_no_release": "the fan stands still",
    "status_says_success": "the fan stands still",
    "status_code_is_from_the_future": "the fan stands still",
}
AT_INFO = {
    "info_is_negative": "18446744073709551611 of 18446744073709551611 bytes are free",
    "info_is_upside_down": "3 of 2 bytes are free",
}
AT_OPERATOR = {
    "last_error_is_nowhere": "(invalid string at 0x123450)",
    "last_error_has_no_end": "(invalid string at 0x",
    "last_error_is_long": "x... (3999 bytes)",
    "last_error_misleads": MISLEADING,
    "last_error_throws": "reason",
    "nothing": "it does not like the sign",
}
AT_REQUIRE = {
    "size_has_negative_length": ("-3",),
    "size_has_huge_length": ("1099511627776",),
    "size_has_largest_length": ("9223372036854775807",),
    "size_is_missing": ("size of 3 dimensions",),
    "size_is_negative": ("-3", "negative"),
    "size_is_huge": ("9223372036854775807",),
    "stride_is_missing": ("stride of 3 dimensions",),
    "stride_is_negative": ("-3", "negative"),
    "stride_is_shorter": ("3", "1"),
    "stride_is_huge": ("9223372036854775807",),
    "buffer_is_negative": ("-1",),
    "buffer_is_nowhere": ("99", "diopiDevice_t"),
}
"""Invalid requests of an operator to the host, and parts of the messages for them."""

HARMLESS = (
    *("version_is_missing", "table_ends_within_a_field", "operator_name_misleads"),
    *("operator_is_missing", "properties_have_no_end", "architecture_has_no_end"),
    *("properties_mislead", "properties_change_their_size", "name_misleads"),
    "name_is_long",
    *("free_throws", "destroy_throws", "nothing"),
)
"""Lies without an effect, except on the text of a name."""
AT_PRESENCE = {
    "present_is_two": "it returns 2, which is neither 0 nor 1",
    "present_is_negative": "it returns -1, which is neither 0 nor 1",
}
FLAWS = {
    "copy_is_missing": "it has no memory_copy, which every vendor needs",
    "table_is_short": "it has no device_count, memory_allocate, memory_free, memory_copy, which",
    "free_of_host_is_missing": "it has no host_free, which host_allocate needs",
    "asynchronous_without_events": "event_query, event_elapsed, which a vendor without "
    "DL_CAP_SYNCHRONOUS needs",
    "some_events_are_missing": "event_elapsed: a vendor must have all six event slots or none",
    "extension_has_no_slot": "its kernel extension has no slots",
    "operator_comes_twice": "it lists diopiRelu more than once; only the first entry is called",
}
"""Flaws that the trial reports although the library can be loaded."""
