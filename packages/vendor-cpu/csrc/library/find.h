// Where other wheels of the same environment keep their libraries.
#ifndef DL_CPU_LIBRARY_FIND_H_
#define DL_CPU_LIBRARY_FIND_H_

namespace dl::cpu {

// dlopen of the library that the environment variable `variable` names; "off" gives null. Where it
// is not set: of `relative` in one of the folders above this library - those of the environment
// that this wheel is installed in - and then of `soname` wherever the system looks.
void* open_library(const char* variable, const char* relative, const char* soname);

}  // namespace dl::cpu

#endif  // DL_CPU_LIBRARY_FIND_H_
