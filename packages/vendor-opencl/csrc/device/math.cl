// Functions of C's library that the kernels call and clang does not translate to intrinsics, by
// OpenCL's built-in functions of the same meaning.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// The names of the double functions are OpenCL's own, hence the assembler names.
#define ONE(name)                              \
  float name##f(float x) { return name(x); }   \
  double dl_##name(double x) __asm(#name);     \
  double dl_##name(double x) { return name(x); }
#define TWO(name)                                           \
  float name##f(float x, float y) { return name(x, y); }    \
  double dl_##name(double x, double y) __asm(#name);        \
  double dl_##name(double x, double y) { return name(x, y); }

// Sine and cosine at once, like sincos of the GNU C library.
void sincosf(float x, generic float* sine, generic float* cosine) { *sine = sincos(x, cosine); }

ONE(tan)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)
ONE(erf)
ONE(erfc)
ONE(expm1)
ONE(log1p)
ONE(cbrt)
ONE(tgamma)
ONE(lgamma)
TWO(atan2)
TWO(fmod)
TWO(hypot)
TWO(remainder)
TWO(nextafter)

// Exponents: both arguments of a complex number are scaled by a power of two.
double dl_ldexp(double x, int exponent) __asm("ldexp");
double dl_ldexp(double x, int exponent) { return ldexp(x, exponent); }
int dl_ilogb(double x) __asm("ilogb");
int dl_ilogb(double x) { return ilogb(x); }
