// Hidden, versioned namespace of the kit: two libraries in one process, built with different
// releases of the kit, share nothing.
#ifndef DL_KIT_BASE_H_
#define DL_KIT_BASE_H_

// clang-format off
#define DL_KIT_BEGIN                      \
  _Pragma("GCC visibility push(hidden)")  \
  namespace dl::kit { inline namespace v1 {
#define DL_KIT_END                        \
  }}                                      \
  _Pragma("GCC visibility pop")
// clang-format on

#endif  // DL_KIT_BASE_H_
