#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../ptx/lexer.h"
#include "code.h"

namespace sim {

/** Decoder of an instruction, used by the functions of opcodes in ../ops. */
class Decoder {
 public:
  Decoder(Image& image, Code& code, const Symbols& symbols)
      : image_(image), code_(code), symbols_(symbols) {}

  void run();

  Instruction out;

  /** Take the next word of the opcode if it is this one: `mul.lo.s32` has "lo", then a type. */
  bool take(std::string_view word);
  /** Take the next word if it is in the list; return its index, or -1. */
  int take_one_of(std::initializer_list<std::string_view> words);
  /** Take the next word, which must be a type. */
  Type type();
  /** Take the next word if it is a type. */
  Type maybe_type();
  /** Return true if words are left. */
  bool more() const { return word_ < words_.size(); }
  std::string_view next_word();

  size_t operands() const { return statement_->operands.size(); }
  const Operand& operand(size_t index) const;
  void want_operands(size_t least, size_t most) const;

  /** Return the location of an operand's values of that type. Registers must have its width. */
  uint32_t read(const Operand& operand, Type type, bool wider = false);
  uint32_t read(size_t index, Type type, bool wider = false) {
    return read(operand(index), type, wider);
  }
  uint32_t write(const Operand& operand, Type type, bool wider = false);
  uint32_t write(size_t index, Type type, bool wider = false) {
    return write(operand(index), type, wider);
  }
  uint32_t predicate(const Operand& operand);
  bool is_predicate(const Operand& operand) const;
  /** Return the width in bytes of an operand's register, or of the type if it is not a register. */
  uint8_t width(const Operand& operand, Type type) const;
  /** Return the location of a constant: 32 equal values. */
  uint32_t constant(uint64_t bits, unsigned bytes);
  /** Read an operand that must be an integer literal. */
  uint64_t literal(size_t index) const;
  /** Read `[a + 4]` into out.a and out.plus. */
  void address(const Operand& operand);
  uint32_t scratch(unsigned bytes);
  int32_t label(std::string_view name) const;
  const std::vector<std::string_view>& label_list(std::string_view name) const;
  int32_t callee(std::string_view name);
  void calls_pointers() { code_.calls_pointers = true; }
  Extra& extra();
  /** Return the offset of a parameter's variable in the frame's parameters, and its bytes. */
  std::pair<uint64_t, uint32_t> parameter(const Operand& operand) const;
  /** Return true if an address is in a parameter of the kernel, and set the offset. */
  bool kernel_parameter(const Operand& operand, uint64_t& offset) const;

  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void lay_out();
  void instruction(const Statement& statement);
  void lay_out_variable(const Variable& variable, bool in_body);
  bool find_register(std::string_view name, Type& type, uint32_t& place) const;
  uint32_t special(std::string_view name, Type type);
  bool symbol(const Operand& operand, uint64_t& value);
  uint64_t shared_address(const Variable& variable);
  const Variable* variable(std::string_view name) const;
  bool is_parameter(const Variable& variable) const;

  Image& image_;
  Code& code_;
  const Symbols& symbols_;
  const Statement* statement_ = nullptr;
  std::vector<std::string_view> words_;
  size_t word_ = 0;
  std::vector<uint32_t> register_places_;
  std::map<std::pair<uint64_t, unsigned>, uint32_t> constants_;
  std::map<const Variable*, uint64_t> offsets_;  // of parameters and of local variables
};

/** Error about an instruction that is unsupported or wrong. */
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Decode = void (*)(Decoder&);
/** Return the decoding function by the first word of the opcode. */
const std::map<std::string_view, Decode>& opcodes();

}  // namespace sim
