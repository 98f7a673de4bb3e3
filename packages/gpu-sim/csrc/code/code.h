#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "instruction.h"

namespace sim {

/** Device memory of a module's variables, as the decoder needs it. */
class Symbols {
 public:
  virtual ~Symbols() = default;
  /** The address of a `.global` or `.const` variable, 0 if there is none of that name. */
  virtual uint64_t address_of(std::string_view name) const = 0;
};

/** Addresses of the windows of generic addresses; global memory has its own. */
constexpr uint64_t kSharedWindow = uint64_t{1} << 61;
constexpr uint64_t kLocalWindow = uint64_t{1} << 60;
constexpr uint64_t kParamWindow = uint64_t{1} << 59;
constexpr uint64_t kFunctionWindow = uint64_t{1} << 58;
/** Where the launch's own shared memory begins, after what kernels declare with a size. */
constexpr uint64_t kDynamicShared = uint64_t{1} << 24;
/** Where parameters of functions begin, after those of the kernel. */
constexpr uint64_t kFrameParams = uint64_t{1} << 24;

/** A routine in the form that is run. */
struct Code {
  const Routine* routine = nullptr;
  std::vector<Instruction> body;
  std::vector<Extra> extras;
  std::vector<uint64_t> constants;  // 32 lanes of each, as registers have them
  std::vector<std::pair<uint64_t, uint32_t>> parameters, results;  // offset and bytes of each
  uint32_t frame_bytes = 0;
  uint32_t param_bytes = 0;  // of the kernel, or of a frame
  bool calls_pointers = false;
  bool has_local = false;  // then it cannot call itself: its variables have fixed places
};

/** Bytes of shared memory that a block may have: those of compute capability 8.0. */
constexpr uint32_t kMostShared = 166912;

/** A kernel with all functions that it may call. */
struct Image {
  std::shared_ptr<Module> module;
  // By index of the routine, the kernel's among them: a module may have very many others.
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
  uint32_t local_extent = 0;  // of local memory: bytes of a thread, with gaps
  bool uses_dynamic = false;
  std::vector<std::string> unsupported;  // one message for each instruction

  const Code& kernel() const { return *codes.at(entry); }
};

/** Decode a kernel. Throws PtxError; unsupported instructions are kept, and fail when they run. */
std::shared_ptr<Image> make_image(std::shared_ptr<Module> module, const Symbols& symbols,
                                  std::string_view kernel);

}  // namespace sim
