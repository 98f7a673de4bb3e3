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
  kInvalid,      // an instruction's operands make no sense
  kUnsupported,  // the simulator does not know an instruction
  kTimeout,
};

/** The name of a fault in reports: "out-of-bounds". */
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
  int line = 0;        // of the PTX
  uint64_t count = 1;

  std::string text() const;
};

/** Findings, one for each faulty instruction, with a count. */
class Findings {
 public:
  /** True: it is a new one, and what it says will be kept. */
  Finding* add(Fault fault, const std::string& kernel, int line, uint64_t detail);
  const std::vector<Finding>& all() const { return all_; }
  std::vector<Finding>& all() { return all_; }
  bool empty() const { return all_.empty(); }
  uint64_t same_value_writes = 0;

 private:
  std::vector<Finding> all_;
  std::map<std::tuple<Fault, std::string, int, uint64_t>, size_t> known_;
};

/** A text in quotes, as JSON has it. */
std::string quoted(const std::string& text);
/** A finding as a JSON object. */
std::string json_of(const Finding& finding);

}  // namespace sim
