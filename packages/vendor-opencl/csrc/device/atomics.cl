// Atomic functions of machine/opencl.h. Kernels use them on global memory only, where devices of
// OpenCL 1.2 have them too.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

uint dl_compare_and_swap_32(generic uint* at, uint expected, uint wanted) {
  return atomic_cmpxchg((volatile global uint*)at, expected, wanted);
}
ulong dl_compare_and_swap_64(generic ulong* at, ulong expected, ulong wanted) {
  return atom_cmpxchg((volatile global ulong*)at, expected, wanted);
}
void dl_add_32(generic uint* to, uint value) { atomic_add((volatile global uint*)to, value); }
void dl_add_64(generic ulong* to, ulong value) { atom_add((volatile global ulong*)to, value); }

// Floating-point numbers by compare-and-swap, until no other thread has changed the element.
void dl_add_float(generic float* to, float value) {
  volatile global uint* at = (volatile global uint*)to;
  uint seen = *at;
  for (;;) {
    const uint before = atomic_cmpxchg(at, seen, as_uint(as_float(seen) + value));
    if (before == seen) return;
    seen = before;
  }
}
void dl_add_double(generic double* to, double value) {
  volatile global ulong* at = (volatile global ulong*)to;
  ulong seen = *at;
  for (;;) {
    const ulong before = atom_cmpxchg(at, seen, as_ulong(as_double(seen) + value));
    if (before == seen) return;
    seen = before;
  }
}

void dl_fence(void) { mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); }
