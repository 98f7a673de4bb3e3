// Slots of the kernel extension with their checks; part of dl/checked.hpp.
#ifndef DL_CHECKED_KERNEL_HPP_
#define DL_CHECKED_KERNEL_HPP_

#include "dl/checked_slots.hpp"

namespace dl::checked::kernel {

#pragma GCC visibility push(hidden)

using Table = dl_kernel_extension_t;

inline constexpr uint64_t kMostCode = uint64_t{1} << 32;

struct Code : dl_kernel_code_t {
  std::string bytes_text;
  std::string log_text;
};

// Copies the library's code object into our own and releases the library's.
inline dl_status_t* take_code(dl_kernel_code_t* foreign, dl_kernel_code_t** code) {
  if (foreign == nullptr) return defect("it reports success but returns no code");
  if (!foreign::readable(foreign, sizeof(foreign->struct_size)))
    return defect("it returns code" + at(foreign));
  const uint64_t size = foreign->struct_size;
  if (!DL_CHECKED_REACHES(size, dl_kernel_code_t, size) || size > kLongestStruct ||
      !foreign::readable(foreign, size))
    return defect(format("it returns code whose struct has %" PRIu64 " bytes", size));
  if (foreign->size == 0 || foreign->size > kMostCode ||
      !foreign::readable(foreign->bytes, foreign->size))
    return defect(format("its code of %" PRIu64 " bytes at %p is not memory of this process",
                         foreign->size, foreign->bytes));
  auto own = std::make_unique<Code>();
  own->bytes_text.assign(static_cast<const char*>(foreign->bytes), foreign->size);
  if (DL_CHECKED_REACHES(size, dl_kernel_code_t, log))
    own->log_text = foreign::read_lines(foreign->log, kLongestDetails);
  if (DL_CHECKED_REACHES(size, dl_kernel_code_t, flags)) own->flags = foreign->flags;
  if (DL_CHECKED_REACHES(size, dl_kernel_code_t, release) && callable(foreign->release))
    foreign->release(foreign);
  own->struct_size = sizeof(dl_kernel_code_t);
  own->bytes = own->bytes_text.data();
  own->size = own->bytes_text.size();
  own->log = own->log_text.empty() ? nullptr : own->log_text.c_str();
  own->release = [](dl_kernel_code_t* self) { delete static_cast<Code*>(self); };
  *code = own.release();
  return nullptr;
}

inline dl_status_t* properties(dl_vendor_t* self, int32_t device,
                               dl_kernel_properties_t* properties) noexcept {
  return filled(
      properties, "a device's kernel properties",
      [&](dl_kernel_properties_t* given) {
        return Slot<&Table::properties>::call(self, device, given);
      },
      [](dl_kernel_properties_t& found) {
        tidy(found.languages);
        tidy(found.architecture);
        tidy(found.compiler);
        tidy(found.unavailable);
      });
}

inline dl_status_t* compile(dl_vendor_t* self, int32_t device, const dl_kernel_source_t* source,
                            dl_kernel_code_t** code) noexcept {
  *code = nullptr;
  dl_kernel_code_t* found = nullptr;
  if (dl_status_t* status = Slot<&Table::compile>::call(self, device, source, &found))
    return status;
  return guarded([&] { return take_code(found, code); });
}

inline dl_status_t* load(dl_vendor_t* self, int32_t device, const void* bytes, uint64_t size,
                         void** module) noexcept {
  return handle_of<&Table::load>("module", self, module, device, bytes, size);
}

inline dl_status_t* find(dl_vendor_t* self, int32_t device, void* module, const char* name,
                         void** function) noexcept {
  return handle_of<&Table::find>("function", self, function, device, module, name);
}

inline dl_status_t* function_properties(dl_vendor_t* self, int32_t device, void* function,
                                        dl_kernel_function_properties_t* properties) noexcept {
  return filled(
      properties, "a function's properties",
      [&](dl_kernel_function_properties_t* given) {
        return Slot<&Table::function_properties>::call(self, device, function, given);
      },
      [](dl_kernel_function_properties_t&) {});
}

inline void wrap(const Table& theirs, Table& ours) {
  DL_CHECKED_OURS(properties)
  DL_CHECKED_OURS(compile)
  DL_CHECKED_OURS(load)
  DL_CHECKED_AS_IT_IS(unload)
  DL_CHECKED_OURS(find)
  DL_CHECKED_OURS(function_properties)
  DL_CHECKED_AS_IT_IS(launch)
  DL_CHECKED_LAST(launch);
}

#pragma GCC visibility pop

}  // namespace dl::checked::kernel

#endif  // DL_CHECKED_KERNEL_HPP_
