#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

enum class Kind : uint8_t {
  kNone,
  kBits,
  kUnsigned,
  kSigned,
  kFloat,
  kBrain,
  kTensorFloat,
  kPredicate
};

/** PTX type. `lanes` is 2 for f16x2 and bf16x2; `bytes` is then the size of the pair. */
struct Type {
  Kind kind = Kind::kNone;
  uint8_t bytes = 0;
  uint8_t lanes = 1;

  bool operator==(const Type& other) const {
    return kind == other.kind && bytes == other.bytes && lanes == other.lanes;
  }
  bool is_integer() const {
    return kind == Kind::kUnsigned || kind == Kind::kSigned || kind == Kind::kBits;
  }
  explicit operator bool() const { return kind != Kind::kNone; }
};

/** Return the type of that name, without its dot; kind kNone if it is unknown. */
Type type_named(std::string_view name);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

struct SourceLine {
  int file = 0, line = 0;
  int outer_file = 0, outer_line = 0;  // call site of inlined code
};

/** Variable or parameter, such as `.global .align 4 .b8 table[16] = {…}`. */
struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  Type type;
  uint64_t bytes = 0;
  uint32_t align = 1;
  bool external = false;
  bool open = false;  // `[]`: the launch determines the size
  int line = 0;
  std::string initial;
  /** Position of an address in `initial`, with its symbol and offset. */
  struct Patch {
    uint64_t at;
    std::string_view symbol;
    int64_t plus;
    uint8_t bytes;
  };
  std::vector<Patch> patches;
};

struct Operand {
  enum class Form : uint8_t { kName, kInteger, kFloat, kAddress, kVector, kList, kPair, kSink };
  Form form = Form::kName;
  bool negated = false;  // `!p`
  bool single = false;   // a 32-bit float
  std::string_view name;
  uint64_t bits = 0;  // the value, or the offset of an address
  std::vector<Operand> parts;
};

/** Statement such as `@!p add.s32 a, b, c;`, or a label (`opcode` is empty). */
struct Statement {
  std::string_view label;
  std::string_view opcode;
  std::string_view guard;
  bool guard_negated = false;
  int line = 0;
  int source = -1;  // index into Module::sources
  int scope = 0;    // index into Routine::scopes
  std::vector<Operand> operands;
};

struct Register {
  Type type;
  int index = -1;
};

/** Scope: the names between two braces. */
struct Scope {
  int parent = -1;
  /** Registers. `.reg .b32 %r<5>` is one entry `%r` with a count; a single name has count -1. */
  struct Range {
    Type type;
    int count;
    int first;
  };
  std::map<std::string_view, Range> registers;
  std::map<std::string_view, Variable> variables;
  std::map<std::string_view, int> labels;
  std::map<std::string_view, std::vector<std::string_view>> label_lists;
};

/** Kernel (`.entry`) or function. */
struct Routine {
  std::string_view name;
  bool entry = false;
  bool defined = false;
  int line = 0;
  int registers = 0;
  std::vector<Variable> results, parameters;
  std::vector<Statement> body;
  std::vector<Scope> scopes;
  std::vector<Type> register_types;
  std::array<uint32_t, 3> most_threads = {0, 0, 0};      // .maxntid
  std::array<uint32_t, 3> required_threads = {0, 0, 0};  // .reqntid
};

/** Parsed module, which owns its text. */
struct Module {
  std::string text;
  int version = 0;  // 10 × major + minor
  std::string_view target;
  std::map<int, std::string> files;
  std::vector<SourceLine> sources;
  std::vector<Variable> variables;
  std::vector<Routine> routines;
  std::map<std::string_view, int> routine_of;

  /** Return the number of the target: 80 for `sm_80`, 90 for `sm_90a`; 0 without a target. */
  int architecture() const {
    int number = 0;
    for (const char each : target)
      if (each >= '0' && each <= '9') number = 10 * number + (each - '0');
    return number;
  }
};

}  // namespace sim
