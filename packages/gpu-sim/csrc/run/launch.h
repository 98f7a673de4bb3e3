#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "../code/code.h"
#include "../memory/device_memory.h"
#include "../report/finding.h"
#include "block.h"
#include "segments.h"

namespace sim {

using Size3 = std::array<uint32_t, 3>;

struct Config {
  Size3 grid{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamic_shared = 0;
  bool cooperative = false;
  uint64_t seed = 0;
  uint64_t budget = 0;  // limit of warp instructions; 0: the default
};

/** Outcome of a launch, corresponding to the driver's errors. */
enum class Outcome : uint8_t {
  kDone,
  kIllegalAddress,
  kMisaligned,
  kAssert,
  kTrap,
  kTimeout,
  kIllegalInstruction,
  kFailed
};

/** Execution of a kernel on its grid. */
class Launch {
 public:
  Launch(std::shared_ptr<const Image> image, DeviceMemory& memory, Findings& findings,
         const Config& config, std::vector<uint8_t> params);

  /** Run to the end. `pause` is called regularly, so that other launches can run. */
  Outcome run(const std::function<void()>& pause = {});

  const Image& image() const { return *image_; }
  const Config& config() const { return config_; }
  DeviceMemory& memory() { return memory_; }
  /** Return the address of the workspace of a cooperative launch; 0 if it has none. */
  uint64_t workspace() const { return workspace_; }
  const std::vector<uint8_t>& params() const { return params_; }
  std::string& output() { return output_; }
  std::mt19937_64& random() { return random_; }
  uint64_t instructions = 0;

  /** Begin a new segment of a warp's `lanes`, which may have synchronised with each other. */
  void begin_segment(Warp& warp, uint32_t lanes, bool together = true);
  /** Return a segment of this launch; null for numbers of others, and for 0. */
  const Segment* segment(uint32_t number) const { return segments_.find(number); }
  /** Return the source location "file:line". */
  std::string source_of(const Instruction& instruction) const;

  /** Report a finding; the first one of an instruction gets its text from `message`. */
  void report(Fault fault, const Warp& warp, uint32_t lane, const Instruction& instruction,
              uint64_t address, const std::function<std::string()>& message, uint64_t detail = 0);
  /** Report a finding for each lane of `mask`, so that threads are counted. */
  void report_lanes(Fault fault, const Warp& warp, uint32_t mask, const Instruction& instruction,
                    uint64_t address, const std::function<std::string()>& message);
  /** End the launch as soon as possible. The first outcome counts. */
  void fail(Outcome outcome, bool stop);
  bool stopped() const { return stopped_; }
  void count_same_value() { ++findings_.same_value_writes; }

  /** Cache of the region in which the next address is likely to be. */
  Region*& last_region(const Instruction& instruction) {
    return last_regions_[static_cast<size_t>(instruction.index) % last_regions_.size()];
  }
  /** Clocks released at an address: to the device, and to the warps of each block. */
  std::unordered_map<uint64_t, Clocks> released, released_in_block;

 private:
  void admit();
  void report_deadlock();

  std::shared_ptr<const Image> image_;
  DeviceMemory& memory_;
  Findings& findings_;
  Config config_;
  std::vector<uint8_t> params_;
  std::string output_;
  std::mt19937_64 random_;
  std::vector<uint64_t> order_;
  size_t next_block_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
  Segments segments_;
  std::array<Region*, 256> last_regions_{};
  Outcome outcome_ = Outcome::kDone;
  bool stopped_ = false;
  uint64_t workspace_ = 0;
};

}  // namespace sim
