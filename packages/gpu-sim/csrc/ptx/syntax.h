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

/** A type of PTX. `lanes` is 2 for f16x2 and bf16x2, whose bytes are those of the pair. */
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

/** The type of that name, without its dot; of kind kNone if there is none. */
Type type_named(std::string_view name);

enum class Space : uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

struct SourceLine {
  int file = 0, line = 0;
  int outer_file = 0, outer_line = 0;  // where the code was inlined, if it was
};

/** Something with a name and bytes: `.global .align 4 .b8 table[16] = {…}`, a parameter. */
struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  Type type;
  uint64_t bytes = 0;
  uint32_t align = 1;
  bool external = false;
  bool open = false;  // `[]`: the size is the launch's
  int line = 0;
  std::string initial;
  /** Where an address belongs in `initial`: the symbol, and what is added to it. */
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
  bool single = false;   // a float of 32 bits
  std::string_view name;
  uint64_t bits = 0;  // the value, or what is added to an address
  std::vector<Operand> parts;
};

/** `@!p add.s32 a, b, c;` as it stands, or a label (`opcode` is empty). */
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

/** The names between two braces. */
struct Scope {
  int parent = -1;
  /** `.reg .b32 %r<5>` is one entry, `%r`, with a count; a single name has count -1. */
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

/** A kernel (`.entry`) or a function. */
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

/** A parsed text, which it owns. */
struct Module {
  std::string text;
  int version = 0;  // 10 × major + minor
  std::string_view target;
  std::map<int, std::string> files;
  std::vector<SourceLine> sources;
  std::vector<Variable> variables;
  std::vector<Routine> routines;
  std::map<std::string_view, int> routine_of;

  /** The number in the target: 80 of `sm_80` or `sm_90a`'s 90; 0 without one. */
  int architecture() const {
    int number = 0;
    for (const char each : target)
      if (each >= '0' && each <= '9') number = 10 * number + (each - '0');
    return number;
  }
};

}  // namespace sim
