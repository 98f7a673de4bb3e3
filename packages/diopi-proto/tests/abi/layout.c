/* The frozen binary layout of the interface. This file must always compile without changes to
 * existing lines.
 *
 * A field appended to a struct adds one line and changes that struct's SIZE: this is allowed, for
 * the structs that begin with struct_size or a version. An AT line that has to change is a new
 * major version instead: dl_vendor_v2, or another magic for the prefixes. */
#include "diopi/diopirt.h"
#include "dl/adaptor.h"
#include "dl/added_operators.h"
#include "dl/choices.h"
#include "dl/communicator.h"
#include "dl/constants.h"
#include "dl/graph.h"
#include "dl/kernel.h"
#include "dl/peer.h"
#include "dl/profiler.h"
#include "dl/vendor.h"

/* clang-format off */
#define AT(type, field, offset) \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved")
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " changed its size")
#define IS_A(expression, ...) _Generic(expression, __VA_ARGS__: 1, default: 0)
#define SLOT(type, field, ...) \
  _Static_assert(IS_A(((type*)0)->field, __VA_ARGS__), #type "." #field " changed its type")
#define VALUE(name, value) _Static_assert((name) == (value), #name " changed its value")

AT(diopiSize_t, data, 0);
AT(diopiSize_t, len, 8);
SIZE(diopiSize_t, 16);

AT(diopiScalar_t, stype, 0);
AT(diopiScalar_t, fval, 8);
AT(diopiScalar_t, ival, 8);
SIZE(diopiScalar_t, 16);

AT(dl_extension_t, struct_size, 0);
AT(dl_extension_t, type, 8);
AT(dl_extension_t, next, 16);
SIZE(dl_extension_t, 24);

AT(dl_status_t, struct_size, 0);
AT(dl_status_t, code, 8);
AT(dl_status_t, reserved, 12);
AT(dl_status_t, message, 16);
AT(dl_status_t, operation, 24);
AT(dl_status_t, release, 32);
AT(dl_status_t, details, 40);
SIZE(dl_status_t, 48);

AT(dl_host_t, struct_size, 0);
AT(dl_host_t, extensions, 8);
AT(dl_host_t, name, 16);
AT(dl_host_t, version, 24);
AT(dl_host_t, allocate, 32);
AT(dl_host_t, deallocate, 40);
AT(dl_host_t, log, 48);
AT(dl_host_t, parallel_for, 56);
AT(dl_host_t, num_threads, 64);
AT(dl_host_t, float32_matmul_precision, 72);
AT(dl_host_t, float32_convolution_precision, 80);
AT(dl_host_t, deterministic, 88);
SIZE(dl_host_t, 96);

AT(dl_handle_ops_t, struct_size, 0);
AT(dl_handle_ops_t, require_tensor, 8);
AT(dl_handle_ops_t, require_buffer, 16);
AT(dl_handle_ops_t, generator_get_state, 24);
AT(dl_handle_ops_t, generator_set_state, 32);
AT(dl_handle_ops_t, record_start, 40);
AT(dl_handle_ops_t, record_end, 48);
AT(dl_handle_ops_t, device_error, 56);
SIZE(dl_handle_ops_t, 64);

AT(dl_device_error_t, state, 0);
AT(dl_device_error_t, kind, 4);
AT(dl_device_error_t, value, 8);
AT(dl_device_error_t, position, 16);
AT(dl_device_error_t, low, 24);
AT(dl_device_error_t, high, 32);
AT(dl_device_error_t, number, 40);
AT(dl_device_error_t, operator_name, 48);
AT(dl_device_error_t, text, 112);
AT(dl_device_error_t, reserved, 240);
SIZE(dl_device_error_t, 256);

AT(dl_tensor_prefix_t, magic, 0);
AT(dl_tensor_prefix_t, version, 4);
AT(dl_tensor_prefix_t, ops, 8);
AT(dl_tensor_prefix_t, data, 16);
AT(dl_tensor_prefix_t, storage, 24);
AT(dl_tensor_prefix_t, storage_offset, 32);
AT(dl_tensor_prefix_t, storage_bytes, 40);
AT(dl_tensor_prefix_t, sizes, 48);
AT(dl_tensor_prefix_t, strides, 56);
AT(dl_tensor_prefix_t, ndim, 64);
AT(dl_tensor_prefix_t, numel, 72);
AT(dl_tensor_prefix_t, dtype, 80);
AT(dl_tensor_prefix_t, device, 84);
AT(dl_tensor_prefix_t, device_index, 88);
AT(dl_tensor_prefix_t, flags, 92);
AT(dl_tensor_prefix_t, crow_indices, 96);
AT(dl_tensor_prefix_t, col_indices, 104);
AT(dl_tensor_prefix_t, values, 112);
AT(dl_tensor_prefix_t, private_format, 120);
SIZE(dl_tensor_prefix_t, 128);

AT(dl_context_prefix_t, magic, 0);
AT(dl_context_prefix_t, version, 4);
AT(dl_context_prefix_t, ops, 8);
AT(dl_context_prefix_t, stream, 16);
AT(dl_context_prefix_t, device_index, 24);
AT(dl_context_prefix_t, flags, 28);
AT(dl_context_prefix_t, host, 32);
AT(dl_context_prefix_t, vendor, 40);
SIZE(dl_context_prefix_t, 48);

AT(dl_generator_prefix_t, magic, 0);
AT(dl_generator_prefix_t, version, 4);
AT(dl_generator_prefix_t, ops, 8);
AT(dl_generator_prefix_t, seed, 16);
AT(dl_generator_prefix_t, offset, 24);
AT(dl_generator_prefix_t, device_index, 32);
AT(dl_generator_prefix_t, flags, 36);
SIZE(dl_generator_prefix_t, 40);

AT(dl_device_properties_t, struct_size, 0);
AT(dl_device_properties_t, name, 8);
AT(dl_device_properties_t, total_memory, 136);
AT(dl_device_properties_t, major, 144);
AT(dl_device_properties_t, minor, 148);
AT(dl_device_properties_t, multiprocessor_count, 152);
AT(dl_device_properties_t, warp_size, 156);
AT(dl_device_properties_t, dtype_mask, 160);
AT(dl_device_properties_t, architecture, 168);
AT(dl_device_properties_t, allocation_padding, 232);
SIZE(dl_device_properties_t, 240);

AT(dl_operator_t, name, 0);
AT(dl_operator_t, fingerprint, 8);
AT(dl_operator_t, function, 16);
AT(dl_operator_t, reserved, 24);
SIZE(dl_operator_t, 32);

/* dl-core may be compiled with another release than the one it runs with. */
AT(dl_adaptor_t, struct_size, 0);
AT(dl_adaptor_t, bind, 8);
AT(dl_adaptor_t, last_error, 16);
AT(dl_adaptor_t, bound_count, 24);
SIZE(dl_adaptor_t, 32);

AT(dl_operators_target_t, struct_size, 0);
AT(dl_operators_target_t, vendor, 8);
AT(dl_operators_target_t, vendor_version, 16);
AT(dl_operators_target_t, properties, 24);
AT(dl_operators_target_t, device, 32);
SIZE(dl_operators_target_t, 40);

AT(dl_added_operators_t, struct_size, 0);
AT(dl_added_operators_t, version, 8);
AT(dl_added_operators_t, operators, 16);
AT(dl_added_operators_t, count, 24);
AT(dl_added_operators_t, last_error, 32);
SIZE(dl_added_operators_t, 40);

AT(dl_vendor_table_t, struct_size, 0);
AT(dl_vendor_table_t, extensions, 8);
AT(dl_vendor_table_t, name, 16);
AT(dl_vendor_table_t, version, 24);
AT(dl_vendor_table_t, capabilities, 32);
AT(dl_vendor_table_t, destroy, 40);
AT(dl_vendor_table_t, present, 48);
AT(dl_vendor_table_t, device_count, 56);
AT(dl_vendor_table_t, device_properties, 64);
AT(dl_vendor_table_t, device_synchronize, 72);
AT(dl_vendor_table_t, memory_allocate, 80);
AT(dl_vendor_table_t, memory_free, 88);
AT(dl_vendor_table_t, memory_info, 96);
AT(dl_vendor_table_t, host_allocate, 104);
AT(dl_vendor_table_t, host_free, 112);
AT(dl_vendor_table_t, memory_copy, 120);
AT(dl_vendor_table_t, memory_set, 128);
AT(dl_vendor_table_t, stream_create, 136);
AT(dl_vendor_table_t, stream_destroy, 144);
AT(dl_vendor_table_t, stream_synchronize, 152);
AT(dl_vendor_table_t, stream_query, 160);
AT(dl_vendor_table_t, stream_wait_event, 168);
AT(dl_vendor_table_t, event_create, 176);
AT(dl_vendor_table_t, event_destroy, 184);
AT(dl_vendor_table_t, event_record, 192);
AT(dl_vendor_table_t, event_synchronize, 200);
AT(dl_vendor_table_t, event_query, 208);
AT(dl_vendor_table_t, event_elapsed, 216);
AT(dl_vendor_table_t, operators, 224);
AT(dl_vendor_table_t, last_error, 232);
AT(dl_vendor_table_t, device_set, 240);
SIZE(dl_vendor_table_t, 248);

AT(dl_kernel_properties_t, struct_size, 0);
AT(dl_kernel_properties_t, languages, 8);
AT(dl_kernel_properties_t, architecture, 136);
AT(dl_kernel_properties_t, compiler, 200);
AT(dl_kernel_properties_t, unavailable, 456);
AT(dl_kernel_properties_t, max_grid, 712);
AT(dl_kernel_properties_t, max_block, 724);
AT(dl_kernel_properties_t, max_block_threads, 736);
AT(dl_kernel_properties_t, warp_size, 740);
AT(dl_kernel_properties_t, max_shared_bytes, 744);
AT(dl_kernel_properties_t, max_argument_bytes, 752);
SIZE(dl_kernel_properties_t, 760);

AT(dl_kernel_header_t, name, 0);
AT(dl_kernel_header_t, text, 8);
SIZE(dl_kernel_header_t, 16);

AT(dl_kernel_source_t, struct_size, 0);
AT(dl_kernel_source_t, language, 8);
AT(dl_kernel_source_t, name, 16);
AT(dl_kernel_source_t, text, 24);
AT(dl_kernel_source_t, options, 32);
AT(dl_kernel_source_t, option_count, 40);
AT(dl_kernel_source_t, headers, 48);
AT(dl_kernel_source_t, header_count, 56);
AT(dl_kernel_source_t, seconds, 64);
SIZE(dl_kernel_source_t, 72);

AT(dl_kernel_code_t, struct_size, 0);
AT(dl_kernel_code_t, bytes, 8);
AT(dl_kernel_code_t, size, 16);
AT(dl_kernel_code_t, log, 24);
AT(dl_kernel_code_t, flags, 32);
AT(dl_kernel_code_t, release, 40);
SIZE(dl_kernel_code_t, 48);

AT(dl_kernel_function_properties_t, struct_size, 0);
AT(dl_kernel_function_properties_t, registers, 8);
AT(dl_kernel_function_properties_t, spill_bytes, 16);
AT(dl_kernel_function_properties_t, local_bytes, 24);
AT(dl_kernel_function_properties_t, shared_bytes, 32);
AT(dl_kernel_function_properties_t, constant_bytes, 40);
AT(dl_kernel_function_properties_t, max_block_threads, 48);
AT(dl_kernel_function_properties_t, code_bytes, 56);
SIZE(dl_kernel_function_properties_t, 64);

AT(dl_kernel_argument_t, offset, 0);
AT(dl_kernel_argument_t, size, 4);
AT(dl_kernel_argument_t, kind, 8);
AT(dl_kernel_argument_t, reserved, 12);
SIZE(dl_kernel_argument_t, 16);

AT(dl_kernel_launch_t, struct_size, 0);
AT(dl_kernel_launch_t, grid, 8);
AT(dl_kernel_launch_t, block, 20);
AT(dl_kernel_launch_t, shared_bytes, 32);
AT(dl_kernel_launch_t, stream, 40);
AT(dl_kernel_launch_t, arguments, 48);
AT(dl_kernel_launch_t, argument_bytes, 56);
AT(dl_kernel_launch_t, layout, 64);
AT(dl_kernel_launch_t, argument_count, 72);
AT(dl_kernel_launch_t, flags, 80);
SIZE(dl_kernel_launch_t, 88);

AT(dl_kernel_extension_t, struct_size, 0);
AT(dl_kernel_extension_t, type, 8);
AT(dl_kernel_extension_t, next, 16);
AT(dl_kernel_extension_t, properties, 24);
AT(dl_kernel_extension_t, compile, 32);
AT(dl_kernel_extension_t, load, 40);
AT(dl_kernel_extension_t, unload, 48);
AT(dl_kernel_extension_t, find, 56);
AT(dl_kernel_extension_t, function_properties, 64);
AT(dl_kernel_extension_t, launch, 72);
SIZE(dl_kernel_extension_t, 80);

AT(dl_graph_properties_t, struct_size, 0);
AT(dl_graph_properties_t, nodes, 8);
SIZE(dl_graph_properties_t, 16);

AT(dl_graph_extension_t, struct_size, 0);
AT(dl_graph_extension_t, type, 8);
AT(dl_graph_extension_t, next, 16);
AT(dl_graph_extension_t, capture_begin, 24);
AT(dl_graph_extension_t, capture_end, 32);
AT(dl_graph_extension_t, capture_status, 40);
AT(dl_graph_extension_t, properties, 48);
AT(dl_graph_extension_t, launch, 56);
AT(dl_graph_extension_t, destroy, 64);
SIZE(dl_graph_extension_t, 72);

AT(dl_activity_t, name, 0);
AT(dl_activity_t, kind, 8);
AT(dl_activity_t, device, 12);
AT(dl_activity_t, stream, 16);
AT(dl_activity_t, correlation, 24);
AT(dl_activity_t, start, 32);
AT(dl_activity_t, end, 40);
AT(dl_activity_t, bytes, 48);
SIZE(dl_activity_t, 56);

AT(dl_activities_t, struct_size, 0);
AT(dl_activities_t, record_size, 8);
AT(dl_activities_t, count, 16);
AT(dl_activities_t, records, 24);
AT(dl_activities_t, dropped, 32);
AT(dl_activities_t, release, 40);
SIZE(dl_activities_t, 48);

AT(dl_clock_t, struct_size, 0);
AT(dl_clock_t, device, 8);
AT(dl_clock_t, host, 16);
AT(dl_clock_t, uncertainty, 24);
SIZE(dl_clock_t, 32);

AT(dl_profiler_extension_t, struct_size, 0);
AT(dl_profiler_extension_t, type, 8);
AT(dl_profiler_extension_t, next, 16);
AT(dl_profiler_extension_t, start, 24);
AT(dl_profiler_extension_t, stop, 32);
AT(dl_profiler_extension_t, collect, 40);
AT(dl_profiler_extension_t, clock, 48);
AT(dl_profiler_extension_t, correlate, 56);
SIZE(dl_profiler_extension_t, 64);

AT(dl_choice_key_t, point, 0);
AT(dl_choice_key_t, count, 32);
AT(dl_choice_key_t, values, 40);
SIZE(dl_choice_key_t, 552);

AT(dl_choice_entry_t, key, 0);
AT(dl_choice_entry_t, choice, 552);
SIZE(dl_choice_entry_t, 584);

AT(dl_choice_properties_t, struct_size, 0);
AT(dl_choice_properties_t, identity, 8);
SIZE(dl_choice_properties_t, 1032);

AT(dl_choice_record_t, struct_size, 0);
AT(dl_choice_record_t, key, 8);
AT(dl_choice_record_t, calls, 560);
AT(dl_choice_record_t, choices, 568);
SIZE(dl_choice_record_t, 1080);

AT(dl_choice_statistics_t, struct_size, 0);
AT(dl_choice_statistics_t, entries, 8);
AT(dl_choice_statistics_t, hits, 16);
AT(dl_choice_statistics_t, misses, 24);
SIZE(dl_choice_statistics_t, 32);

AT(dl_choices_extension_t, struct_size, 0);
AT(dl_choices_extension_t, type, 8);
AT(dl_choices_extension_t, next, 16);
AT(dl_choices_extension_t, properties, 24);
AT(dl_choices_extension_t, install, 32);
AT(dl_choices_extension_t, request, 40);
AT(dl_choices_extension_t, record, 48);
AT(dl_choices_extension_t, recorded, 56);
AT(dl_choices_extension_t, statistics, 64);
SIZE(dl_choices_extension_t, 72);

AT(dl_constants_statistics_t, struct_size, 0);
AT(dl_constants_statistics_t, ranges, 8);
AT(dl_constants_statistics_t, bytes, 16);
AT(dl_constants_statistics_t, kept, 24);
AT(dl_constants_statistics_t, kept_bytes, 32);
SIZE(dl_constants_statistics_t, 40);

AT(dl_constants_extension_t, struct_size, 0);
AT(dl_constants_extension_t, type, 8);
AT(dl_constants_extension_t, next, 16);
AT(dl_constants_extension_t, declare, 24);
AT(dl_constants_extension_t, forget, 32);
AT(dl_constants_extension_t, use, 40);
AT(dl_constants_extension_t, statistics, 48);
SIZE(dl_constants_extension_t, 56);

AT(dl_communicator_id_t, bytes, 0);
SIZE(dl_communicator_id_t, 128);

AT(dl_communicator_properties_t, struct_size, 0);
AT(dl_communicator_properties_t, rank, 8);
AT(dl_communicator_properties_t, ranks, 12);
AT(dl_communicator_properties_t, device, 16);
AT(dl_communicator_properties_t, aborted, 20);
SIZE(dl_communicator_properties_t, 24);

AT(dl_communicator_extension_t, struct_size, 0);
AT(dl_communicator_extension_t, type, 8);
AT(dl_communicator_extension_t, next, 16);
AT(dl_communicator_extension_t, unique_id, 24);
AT(dl_communicator_extension_t, create, 32);
AT(dl_communicator_extension_t, destroy, 40);
AT(dl_communicator_extension_t, abort, 48);
AT(dl_communicator_extension_t, check, 56);
AT(dl_communicator_extension_t, properties, 64);
AT(dl_communicator_extension_t, group_begin, 72);
AT(dl_communicator_extension_t, group_end, 80);
AT(dl_communicator_extension_t, all_reduce, 88);
AT(dl_communicator_extension_t, reduce, 96);
AT(dl_communicator_extension_t, broadcast, 104);
AT(dl_communicator_extension_t, all_gather, 112);
AT(dl_communicator_extension_t, reduce_scatter, 120);
AT(dl_communicator_extension_t, all_to_all, 128);
AT(dl_communicator_extension_t, gather, 136);
AT(dl_communicator_extension_t, scatter, 144);
AT(dl_communicator_extension_t, send, 152);
AT(dl_communicator_extension_t, receive, 160);
AT(dl_communicator_extension_t, id_size, 168);
AT(dl_communicator_extension_t, sized_unique_id, 176);
AT(dl_communicator_extension_t, sized_create, 184);
SIZE(dl_communicator_extension_t, 192);

AT(dl_peer_handle_t, bytes, 0);
SIZE(dl_peer_handle_t, 128);

AT(dl_peer_extension_t, struct_size, 0);
AT(dl_peer_extension_t, type, 8);
AT(dl_peer_extension_t, next, 16);
AT(dl_peer_extension_t, can_access, 24);
AT(dl_peer_extension_t, enable_access, 32);
AT(dl_peer_extension_t, disable_access, 40);
AT(dl_peer_extension_t, copy, 48);
AT(dl_peer_extension_t, export_memory, 56);
AT(dl_peer_extension_t, open_memory, 64);
AT(dl_peer_extension_t, close_memory, 72);
AT(dl_peer_extension_t, export_event, 80);
AT(dl_peer_extension_t, open_event, 88);
SIZE(dl_peer_extension_t, 96);

/* An offset does not move when the arguments of a slot change: their types are frozen too. */

SLOT(dl_status_t, release, void (*)(struct dl_status*));

SLOT(dl_host_t, allocate, void* (*)(const struct dl_host*, uint64_t, uint64_t));
SLOT(dl_host_t, deallocate, void (*)(const struct dl_host*, void*));
SLOT(dl_host_t, log, void (*)(const struct dl_host*, int32_t, const char*));
SLOT(dl_host_t, parallel_for, int32_t (*)(const struct dl_host*, int64_t, int64_t, int64_t,
     dl_range_fn, void*));
SLOT(dl_host_t, num_threads, int32_t (*)(const struct dl_host*));
SLOT(dl_host_t, float32_matmul_precision, int32_t (*)(const struct dl_host*));
SLOT(dl_host_t, float32_convolution_precision, int32_t (*)(const struct dl_host*));
SLOT(dl_host_t, deterministic, int32_t (*)(const struct dl_host*));

SLOT(dl_handle_ops_t, require_tensor, diopiError_t (*)(diopiContextHandle_t, diopiTensorHandle_t*,
     const diopiSize_t*, const diopiSize_t*, diopiDtype_t, diopiDevice_t));
SLOT(dl_handle_ops_t, require_buffer, diopiError_t (*)(diopiContextHandle_t, diopiTensorHandle_t*,
     int64_t, diopiDevice_t));
SLOT(dl_handle_ops_t, generator_get_state, diopiError_t (*)(diopiContextHandle_t,
     diopiConstGeneratorHandle_t, diopiTensorHandle_t*));
SLOT(dl_handle_ops_t, generator_set_state, diopiError_t (*)(diopiGeneratorHandle_t,
     diopiConstTensorHandle_t));
SLOT(dl_handle_ops_t, record_start, diopiError_t (*)(diopiContextHandle_t, const char*, void**));
SLOT(dl_handle_ops_t, record_end, diopiError_t (*)(diopiContextHandle_t, void**));
SLOT(dl_handle_ops_t, device_error, diopiError_t (*)(diopiContextHandle_t, dl_device_error_t**));

SLOT(dl_vendor_table_t, destroy, void (*)(dl_vendor_t*));
SLOT(dl_vendor_table_t, present, dl_status_t* (*)(dl_vendor_t*, int32_t*));
SLOT(dl_vendor_table_t, device_count, dl_status_t* (*)(dl_vendor_t*, int32_t*));
SLOT(dl_vendor_table_t, device_properties, dl_status_t* (*)(dl_vendor_t*, int32_t,
     dl_device_properties_t*));
SLOT(dl_vendor_table_t, device_synchronize, dl_status_t* (*)(dl_vendor_t*, int32_t));
SLOT(dl_vendor_table_t, memory_allocate, dl_status_t* (*)(dl_vendor_t*, int32_t, uint64_t, void**));
SLOT(dl_vendor_table_t, memory_free, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));
SLOT(dl_vendor_table_t, memory_info, dl_status_t* (*)(dl_vendor_t*, int32_t, uint64_t*, uint64_t*));
SLOT(dl_vendor_table_t, host_allocate, dl_status_t* (*)(dl_vendor_t*, uint64_t, void**));
SLOT(dl_vendor_table_t, host_free, dl_status_t* (*)(dl_vendor_t*, void*));
SLOT(dl_vendor_table_t, memory_copy, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, const void*,
     uint64_t, int32_t, void*));
SLOT(dl_vendor_table_t, memory_set, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, int32_t,
     uint64_t, void*));
SLOT(dl_vendor_table_t, stream_create, dl_status_t* (*)(dl_vendor_t*, int32_t, int32_t, void**));
SLOT(dl_vendor_table_t, stream_destroy, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));
SLOT(dl_vendor_table_t, stream_synchronize, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));
SLOT(dl_vendor_table_t, stream_query, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, int32_t*));
SLOT(dl_vendor_table_t, stream_wait_event, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, void*));
SLOT(dl_vendor_table_t, event_create, dl_status_t* (*)(dl_vendor_t*, int32_t, uint64_t, void**));
SLOT(dl_vendor_table_t, event_destroy, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));
SLOT(dl_vendor_table_t, event_record, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, void*));
SLOT(dl_vendor_table_t, event_synchronize, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));
SLOT(dl_vendor_table_t, event_query, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, int32_t*));
SLOT(dl_vendor_table_t, event_elapsed, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, void*,
     double*));
SLOT(dl_vendor_table_t, operators, dl_status_t* (*)(dl_vendor_t*, const dl_operator_t**,
     uint64_t*));
SLOT(dl_vendor_table_t, last_error, const char* (*)(dl_vendor_t*));
SLOT(dl_vendor_table_t, device_set, dl_status_t* (*)(dl_vendor_t*, int32_t));

SLOT(dl_kernel_code_t, release, void (*)(struct dl_kernel_code*));
SLOT(dl_kernel_extension_t, properties, dl_status_t* (*)(dl_vendor_t*, int32_t,
     dl_kernel_properties_t*));
SLOT(dl_kernel_extension_t, compile, dl_status_t* (*)(dl_vendor_t*, int32_t, const
     dl_kernel_source_t*, dl_kernel_code_t**));
SLOT(dl_kernel_extension_t, load, dl_status_t* (*)(dl_vendor_t*, int32_t, const void*, uint64_t,
     void**));
SLOT(dl_kernel_extension_t, unload, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));
SLOT(dl_kernel_extension_t, find, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, const char*,
     void**));
SLOT(dl_kernel_extension_t, function_properties, dl_status_t* (*)(dl_vendor_t*, int32_t, void*,
     dl_kernel_function_properties_t*));
SLOT(dl_kernel_extension_t, launch, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, const
     dl_kernel_launch_t*));

SLOT(dl_graph_extension_t, capture_begin, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, uint64_t));
SLOT(dl_graph_extension_t, capture_end, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, void**));
SLOT(dl_graph_extension_t, capture_status, dl_status_t* (*)(dl_vendor_t*, int32_t, void*,
     int32_t*));
SLOT(dl_graph_extension_t, properties, dl_status_t* (*)(dl_vendor_t*, int32_t, void*,
     dl_graph_properties_t*));
SLOT(dl_graph_extension_t, launch, dl_status_t* (*)(dl_vendor_t*, int32_t, void*, void*));
SLOT(dl_graph_extension_t, destroy, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));

SLOT(dl_activities_t, release, void (*)(struct dl_activities*));
SLOT(dl_profiler_extension_t, start, dl_status_t* (*)(dl_vendor_t*, int32_t, uint64_t));
SLOT(dl_profiler_extension_t, stop, dl_status_t* (*)(dl_vendor_t*, int32_t));
SLOT(dl_profiler_extension_t, collect, dl_status_t* (*)(dl_vendor_t*, int32_t, dl_activities_t**));
SLOT(dl_profiler_extension_t, clock, dl_status_t* (*)(dl_vendor_t*, int32_t, dl_clock_t*));
SLOT(dl_profiler_extension_t, correlate, dl_status_t* (*)(dl_vendor_t*, uint64_t, uint64_t*));

SLOT(dl_choices_extension_t, properties, dl_status_t* (*)(dl_vendor_t*, int32_t,
     dl_choice_properties_t*));
SLOT(dl_choices_extension_t, install, dl_status_t* (*)(dl_vendor_t*, int32_t,
     const dl_choice_entry_t*, uint64_t));
SLOT(dl_choices_extension_t, request, dl_status_t* (*)(dl_vendor_t*, int32_t, void (*)(void*),
     void*));
SLOT(dl_choices_extension_t, record, dl_status_t* (*)(dl_vendor_t*, int32_t, uint64_t));
SLOT(dl_choices_extension_t, recorded, dl_status_t* (*)(dl_vendor_t*, int32_t, uint64_t,
     dl_choice_record_t*));
SLOT(dl_choices_extension_t, statistics, dl_status_t* (*)(dl_vendor_t*, int32_t,
     dl_choice_statistics_t*));
SLOT(dl_constants_extension_t, declare, dl_status_t* (*)(dl_vendor_t*, int32_t, const void*,
     uint64_t));
SLOT(dl_constants_extension_t, forget, dl_status_t* (*)(dl_vendor_t*, int32_t, const void*,
     uint64_t));
SLOT(dl_constants_extension_t, use, dl_status_t* (*)(dl_vendor_t*, int32_t, int32_t));
SLOT(dl_constants_extension_t, statistics, dl_status_t* (*)(dl_vendor_t*, int32_t,
     dl_constants_statistics_t*));

SLOT(dl_communicator_extension_t, unique_id, dl_status_t* (*)(dl_vendor_t*, dl_communicator_id_t*));
SLOT(dl_communicator_extension_t, create, dl_status_t* (*)(dl_vendor_t*, int32_t, const
     dl_communicator_id_t*, int32_t, int32_t, double, void**));
SLOT(dl_communicator_extension_t, destroy, dl_status_t* (*)(dl_vendor_t*, void*));
SLOT(dl_communicator_extension_t, abort, dl_status_t* (*)(dl_vendor_t*, void*));
SLOT(dl_communicator_extension_t, check, dl_status_t* (*)(dl_vendor_t*, void*));
SLOT(dl_communicator_extension_t, properties, dl_status_t* (*)(dl_vendor_t*, void*,
     dl_communicator_properties_t*));
SLOT(dl_communicator_extension_t, group_begin, dl_status_t* (*)(dl_vendor_t*));
SLOT(dl_communicator_extension_t, group_end, dl_status_t* (*)(dl_vendor_t*));
SLOT(dl_communicator_extension_t, all_reduce, dl_status_t* (*)(dl_vendor_t*, void*, const void*,
     void*, uint64_t, int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, reduce, dl_status_t* (*)(dl_vendor_t*, void*, const void*, void*,
     uint64_t, int32_t, int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, broadcast, dl_status_t* (*)(dl_vendor_t*, void*, const void*,
     void*, uint64_t, int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, all_gather, dl_status_t* (*)(dl_vendor_t*, void*, const void*,
     void*, uint64_t, int32_t, void*));
SLOT(dl_communicator_extension_t, reduce_scatter, dl_status_t* (*)(dl_vendor_t*, void*, const void*,
     void*, uint64_t, int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, all_to_all, dl_status_t* (*)(dl_vendor_t*, void*, const void*,
     void*, uint64_t, int32_t, void*));
SLOT(dl_communicator_extension_t, gather, dl_status_t* (*)(dl_vendor_t*, void*, const void*, void*,
     uint64_t, int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, scatter, dl_status_t* (*)(dl_vendor_t*, void*, const void*, void*,
     uint64_t, int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, send, dl_status_t* (*)(dl_vendor_t*, void*, const void*, uint64_t,
     int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, receive, dl_status_t* (*)(dl_vendor_t*, void*, void*, uint64_t,
     int32_t, int32_t, void*));
SLOT(dl_communicator_extension_t, id_size, dl_status_t* (*)(dl_vendor_t*, uint64_t*));
SLOT(dl_communicator_extension_t, sized_unique_id, dl_status_t* (*)(dl_vendor_t*, void*, uint64_t));
SLOT(dl_communicator_extension_t, sized_create, dl_status_t* (*)(dl_vendor_t*, int32_t, const void*,
     uint64_t, int32_t, int32_t, double, void**));

SLOT(dl_peer_extension_t, can_access, dl_status_t* (*)(dl_vendor_t*, int32_t, int32_t, int32_t*));
SLOT(dl_peer_extension_t, enable_access, dl_status_t* (*)(dl_vendor_t*, int32_t, int32_t));
SLOT(dl_peer_extension_t, disable_access, dl_status_t* (*)(dl_vendor_t*, int32_t, int32_t));
SLOT(dl_peer_extension_t, copy, dl_status_t* (*)(dl_vendor_t*, int32_t, const void*, int32_t,
     void*, uint64_t, void*));
SLOT(dl_peer_extension_t, export_memory, dl_status_t* (*)(dl_vendor_t*, int32_t, void*,
     dl_peer_handle_t*));
SLOT(dl_peer_extension_t, open_memory, dl_status_t* (*)(dl_vendor_t*, int32_t, const
     dl_peer_handle_t*, void**, uint64_t*));
SLOT(dl_peer_extension_t, close_memory, dl_status_t* (*)(dl_vendor_t*, int32_t, void*));
SLOT(dl_peer_extension_t, export_event, dl_status_t* (*)(dl_vendor_t*, int32_t, void*,
     dl_peer_handle_t*));
SLOT(dl_peer_extension_t, open_event, dl_status_t* (*)(dl_vendor_t*, int32_t, const
     dl_peer_handle_t*, void**));

SLOT(dl_operator_t, function, dl_function_t);
SLOT(dl_adaptor_t, bind, dl_status_t* (*)(dl_adaptor_t*, dl_vendor_t*, dl_vendor_t*, const dl_operator_t*,
                                          uint64_t, const dl_operator_t**));
SLOT(dl_adaptor_t, last_error, const char* (*)(dl_adaptor_t*, const char*));
SLOT(dl_adaptor_t, bound_count, uint64_t (*)(dl_adaptor_t*));
SLOT(dl_added_operators_t, last_error, const char* (*)(void));
_Static_assert(IS_A((dl_function_t)0, diopiError_t (*)(void)), "dl_function_t changed its type");
_Static_assert(IS_A((dl_range_fn)0, void (*)(void*, int64_t, int64_t)),
               "dl_range_fn changed its type");

AT(dl_vendor_t, table, 0);

/* Enums are passed by value and stored as int32_t in the prefixes. */
SIZE(diopiError_t, 4);
SIZE(diopiDevice_t, 4);
SIZE(diopiDtype_t, 4);
SIZE(diopiMemoryFormat_t, 4);
SIZE(diopiReduction_t, 4);
SIZE(diopiRoundMode_t, 4);
SIZE(diopiDeviceIndex_t, 1);
SIZE(bool, 1);

VALUE(diopiSuccess, 0);
VALUE(diopiErrorOccurred, 1);
VALUE(diopiNotInited, 2);
VALUE(diopiNoRegisteredStreamCreateFunction, 3);
VALUE(diopiNoRegisteredStreamDestoryFunction, 4);
VALUE(diopiNoRegisteredStreamSyncFunction, 5);
VALUE(diopiNoRegisteredDeviceMemoryMallocFunction, 6);
VALUE(diopiNoRegisteredDeviceMemoryFreeFunction, 7);
VALUE(diopiNoRegisteredDevice2DdeviceMemoryCopyFunction, 8);
VALUE(diopiNoRegisteredDevice2HostMemoryCopyFunction, 9);
VALUE(diopiNoRegisteredHost2DeviceMemoryCopyFunction, 10);
VALUE(diopiNoRegisteredGetLastErrorFunction, 11);
VALUE(diopi5DNotSupported, 12);
VALUE(diopiNoImplement, 13);
VALUE(diopiForceFallbackToCPU, 14);
VALUE(diopiDtypeNotSupported, 1000);

VALUE(diopi_host, 0);
VALUE(diopi_device, 1);

VALUE(diopi_dtype_int8, 0);
VALUE(diopi_dtype_uint8, 1);
VALUE(diopi_dtype_int16, 2);
VALUE(diopi_dtype_uint16, 3);
VALUE(diopi_dtype_int32, 4);
VALUE(diopi_dtype_uint32, 5);
VALUE(diopi_dtype_int64, 6);
VALUE(diopi_dtype_uint64, 7);
VALUE(diopi_dtype_float16, 8);
VALUE(diopi_dtype_float32, 9);
VALUE(diopi_dtype_float64, 10);
VALUE(diopi_dtype_bool, 11);
VALUE(diopi_dtype_bfloat16, 12);
VALUE(diopi_dtype_tfloat32, 13);
VALUE(diopi_dtype_complex32, 14);
VALUE(diopi_dtype_complex64, 15);
VALUE(diopi_dtype_complex128, 16);
VALUE(diopi_dtype_unsupported, 255);

VALUE(Contiguous, 0);
VALUE(ChannelsLast, 1);
VALUE(ChannelsLast3d, 2);
VALUE(Preserve, 3);
VALUE(ChannelsLast1d, 4);

VALUE(ReductionNone, 0);
VALUE(ReductionMean, 1);
VALUE(ReductionSum, 2);
VALUE(ReductionEND, 3);

VALUE(RoundModeNone, 0);
VALUE(RoundModeTrunc, 1);
VALUE(RoundModeFloor, 2);
VALUE(RoundModeEND, 3);

VALUE(DL_OK, 0);
VALUE(DL_ERROR, 1);
VALUE(DL_INVALID_ARGUMENT, 2);
VALUE(DL_OUT_OF_MEMORY, 3);
VALUE(DL_NOT_SUPPORTED, 4);
VALUE(DL_UNAVAILABLE, 5);
VALUE(DL_NOT_READY, 6);
VALUE(DL_ABI_MISMATCH, 7);

VALUE(DL_LOG_DEBUG, 0);
VALUE(DL_LOG_INFO, 1);
VALUE(DL_LOG_WARNING, 2);
VALUE(DL_LOG_ERROR, 3);

VALUE(DL_MATMUL_FLOAT32, 0);
VALUE(DL_MATMUL_TF32, 1);

VALUE(DL_COPY_HOST_TO_DEVICE, 0);
VALUE(DL_COPY_DEVICE_TO_HOST, 1);
VALUE(DL_COPY_DEVICE_TO_DEVICE, 2);

VALUE(DL_TENSOR_MAGIC, 0x54696c64u);
VALUE(DL_CONTEXT_MAGIC, 0x43696c64u);
VALUE(DL_GENERATOR_MAGIC, 0x47696c64u);
VALUE(DL_PREFIX_VERSION, 1);
VALUE(DL_TENSOR_SPARSE_CSR, 1);
VALUE(DL_TENSOR_CONTIGUOUS, 2);
VALUE(DL_CAP_HOST_ACCESSIBLE, 1);
VALUE(DL_CAP_SYNCHRONOUS, 2);
VALUE(DL_CAP_ANY_HOST_POINTER, 4);
VALUE(DL_CAP_REFERENCE, 8);
VALUE(DL_DEVICE_ERROR_NONE, 0);
VALUE(DL_DEVICE_ERROR_WRITING, 1);
VALUE(DL_DEVICE_ERROR_RAISED, 2);
VALUE(DL_DEVICE_ERROR_OTHER, 0);
VALUE(DL_DEVICE_ERROR_INDEX, 1);
VALUE(DL_DEVICE_ERROR_DIVISION, 2);
VALUE(DL_DEVICE_ERROR_NUMBER, 3);
VALUE(DL_EXT_COMMUNICATOR, 1);
VALUE(DL_EXT_KERNEL, 2);
VALUE(DL_EXT_GRAPH, 3);
VALUE(DL_EXT_PROFILER, 4);
VALUE(DL_EXT_PEER, 5);
VALUE(DL_EXT_CHOICES, 6);
VALUE(DL_EXT_CONSTANTS, 7);
VALUE(DL_CHOICE_MOST_VALUES, 64);
VALUE(DL_EVENT_TIMING, 1);
VALUE(DL_KERNEL_VALUE, 0);
VALUE(DL_KERNEL_MEMORY, 1);
VALUE(DL_KERNEL_CODE_CACHED, 1);
VALUE(DL_ACTIVITY_OTHER, 0);
VALUE(DL_ACTIVITY_KERNEL, 1);
VALUE(DL_ACTIVITY_COPY, 2);
VALUE(DL_ACTIVITY_SET, 3);
VALUE(DL_ACTIVITY_WAIT, 4);
VALUE(DL_ACTIVITY_COLLECTIVE, 5);
VALUE(DL_ACTIVITY_GRAPH, 6);
VALUE(DL_REDUCE_SUM, 0);
VALUE(DL_REDUCE_PRODUCT, 1);
VALUE(DL_REDUCE_MINIMUM, 2);
VALUE(DL_REDUCE_MAXIMUM, 3);
VALUE(DL_REDUCE_AVERAGE, 4);

/* The entry symbol's type. */
_Static_assert(IS_A(&dl_vendor_v1, dl_vendor_entry_v1_t), "dl_vendor_v1 changed its type");
