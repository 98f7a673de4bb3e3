#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "instruction.h"

namespace sim {

/** Addresses of a module's variables in device memory, for the decoder. */
class Symbols {
 public:
  virtual ~Symbols() = default;
  /** Return the address of a `.global` or `.const` variable, or 0 if it does not exist. */
  virtual uint64_t address_of(std::string_view name) const = 0;
};

/** Address windows of the state spaces in generic addressing; the rest is global memory. */
constexpr uint64_t kSharedWindow = uint64_t{1} << 61;
constexpr uint64_t kLocalWindow = uint64_t{1} << 60;
constexpr uint64_t kParamWindow = uint64_t{1} << 59;
constexpr uint64_t kFunctionWindow = uint64_t{1} << 58;
/** Address of dynamic shared memory, after the variables that kernels declare with a size. */
constexpr uint64_t kDynamicShared = uint64_t{1} << 24;
/** Address of the parameters of functions, after the kernel's parameters. */
constexpr uint64_t kFrameParams = uint64_t{1} << 24;

/** Decoded routine. */
struct Code {
  const Routine* routine = nullptr;
  std::vector<Instruction> body;
  std::vector<Extra> extras;
  std::vector<uint64_t> constants;  // 32 lanes of each, in the layout of registers
  std::vector<std::pair<uint64_t, uint32_t>> parameters, results;  // offset and bytes of each
  uint32_t frame_bytes = 0;
  uint32_t param_bytes = 0;  // of the kernel, or of a call frame
  bool calls_pointers = false;
  bool has_local = false;  // excludes recursion: local variables have fixed addresses
};

/** Maximum bytes of shared memory of a block, as for compute capability 8.0. */
constexpr uint32_t kMostShared = 166912;

/** A kernel with all functions that it may call. */
struct Image {
  std::shared_ptr<Module> module;
  // By index of the routine, including the kernel. A map, since a module may have many routines.
  std::unordered_map<int, std::unique_ptr<Code>> codes;
  int entry = -1;
  uint32_t static_shared = 0;  // bytes that the kernel declares
  uint32_t shared_extent = 0;  // with the gaps between its variables
  struct Placed {
    uint64_t offset, bytes;
    std::string name;
  };
  std::map<std::string_view, uint64_t> shared_of;
  std::vector<Placed> shared, local;
  uint32_t local_extent = 0;  // bytes of local memory of a thread, with gaps
  bool uses_dynamic = false;
  std::vector<std::string> unsupported;  // one message for each instruction

  const Code& kernel() const { return *codes.at(entry); }
};

/** Decode a kernel. Throws PtxError. Unsupported instructions are kept and fail if they run. */
std::shared_ptr<Image> make_image(std::shared_ptr<Module> module, const Symbols& symbols,
                                  std::string_view kernel);

}  // namespace sim
