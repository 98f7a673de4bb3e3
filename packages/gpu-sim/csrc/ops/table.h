#pragma once

#include "lanes.h"

namespace sim {

/** Add the opcodes of one file to the table. */
void add_integer(Opcodes& table);
void add_products(Opcodes& table);
void add_bits(Opcodes& table);
void add_bit_fields(Opcodes& table);
void add_floats(Opcodes& table);
void add_functions(Opcodes& table);
void add_comparisons(Opcodes& table);
void add_selections(Opcodes& table);
void add_conversions(Opcodes& table);
void add_moves(Opcodes& table);
void add_memory(Opcodes& table);
void add_atomics(Opcodes& table);
void add_warp(Opcodes& table);
void add_matrix(Opcodes& table);
void add_control(Opcodes& table);
void add_async_copies(Opcodes& table);

/** Decode a floating-point opcode for f16, bf16 and their pairs. */
void half_arithmetic(Decoder& decoder, std::string_view opcode, Type type);

/** Return the action of a function that the driver provides, or null for other functions. */
Action runtime_call(std::string_view name);

/** Decode the integer forms of opcodes that also exist for floats. */
void integer_add(Decoder& decoder, Type type, bool subtract);
void integer_add_saturated(Decoder& decoder, Type type, bool subtract);
void integer_add_carry(Decoder& decoder, bool subtract);
/** Return false if the next word of the opcode does not belong to an integer form. */
bool integer_mul(Decoder& decoder);
bool integer_mad(Decoder& decoder);
void integer_minmax(Decoder& decoder, Type type, bool greater);
void integer_unary(Decoder& decoder, Type type, std::string_view opcode);
void integer_division(Decoder& decoder, Type type, bool remainder);

}  // namespace sim
