#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace sim {

enum class Fault : uint8_t {
  kOutOfBounds,
  kMisaligned,
  kUninitialised,
  kRace,
  kDivergentBarrier,
  kDeadlock,
  kAssert,
  kTrap,
  kInvalid,      // the operands of an instruction are invalid
  kUnsupported,  // the simulator does not support an instruction
  kTimeout,
};

/** Return the name of a fault in reports, such as "out-of-bounds". */
const char* name_of(Fault fault);

struct Thread {
  std::array<uint32_t, 3> block{}, thread{};
};

struct Finding {
  Fault fault;
  std::string kernel;
  Thread who;
  uint64_t address = 0;
  std::string message;
  std::string source;  // file:line, or empty
  int line = 0;        // line of the PTX
  uint64_t count = 1;

  std::string text() const;
};

/** Findings, one for each faulty instruction, with a count. */
class Findings {
 public:
  /** Count a finding; return true if it is new, so that its message is needed. */
  Finding* add(Fault fault, const std::string& kernel, int line, uint64_t detail);
  const std::vector<Finding>& all() const { return all_; }
  std::vector<Finding>& all() { return all_; }
  bool empty() const { return all_.empty(); }
  uint64_t same_value_writes = 0;

 private:
  std::vector<Finding> all_;
  std::map<std::tuple<Fault, std::string, int, uint64_t>, size_t> known_;
};

/** Return a text as a JSON string. */
std::string quoted(const std::string& text);
/** Return a finding as a JSON object. */
std::string json_of(const Finding& finding);

}  // namespace sim
