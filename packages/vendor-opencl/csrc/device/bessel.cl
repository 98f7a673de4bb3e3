// The Bessel functions j0, j1, y0 and y1 of C's library for double, which OpenCL does not have.
//
// Up to 25: Miller's algorithm, the downward recurrence J(n-1) = (2n/x) J(n) - J(n+1), normalized
// by J0 + 2 (J2 + J4 + ...) = 1 (DLMF 10.74(iv), 10.12.4); Y0 and Y1 from Neumann's series of these
// J(n) (Abramowitz and Stegun 9.1.88). Beyond: Hankel's expansion (DLMF 10.17.3 and 10.17.4).
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define EULER_GAMMA 0.57721566490153286061
// J(n) with n above this is below 1e-30 for all arguments of the recurrence.
#define START 100

struct dl_bessel {
  double j[2], y[2];
};

static struct dl_bessel dl_bessel_recurrence(double x) {
  // Scaled so that no value overflows on the way down: J(START) of a tiny x is below 1e-300.
  const double large = 0x1p+300;
  double above = 0, here = 0x1p-1000;
  double sum = 0, y0 = 0, y1 = 0;
  for (int n = START; n > 0; --n) {
    const double below = 2 * n / x * here - above;
    if (n % 2 == 0) {
      const double sign = n / 2 % 2 == 0 ? 1 : -1;
      sum += 2 * here;
      y0 += sign * here / (n / 2);
    } else if (n > 1) {
      const int k = (n - 1) / 2;
      const double sign = k % 2 == 0 ? 1 : -1;
      y1 += sign * n * here / ((double)k * (k + 1));
    }
    above = here;
    here = below;
    if (fabs(here) > large) {
      above /= large;
      here /= large;
      sum /= large;
      y0 /= large;
      y1 /= large;
    }
  }
  const double scale = 1 / (sum + here);
  struct dl_bessel all;
  all.j[0] = here * scale;
  all.j[1] = above * scale;
  const double logarithm = log(x / 2) + EULER_GAMMA;
  all.y[0] = M_2_PI * (logarithm * all.j[0] - 2 * y0 * scale);
  all.y[1] = M_2_PI * ((logarithm - 1) * all.j[1] - all.j[0] / x - y1 * scale);
  return all;
}

static struct dl_bessel dl_bessel_expansion(double x) {
  struct dl_bessel all;
  // cos and sin of x - pi/4, without rounding x - pi/4.
  const double c = cos(x), s = sin(x);
  const double root = sqrt(1 / (M_PI * x));
  for (int n = 0; n < 2; ++n) {
    const double mu = 4.0 * n * n;
    double term = 1, p = 1, q = 0;
    for (int k = 1; k < 24; ++k) {
      const double odd = 2 * k - 1;
      term *= (mu - odd * odd) / (k * 8 * x);
      if (k % 2 == 0) {
        p += k % 4 == 0 ? term : -term;
      } else {
        q += k % 4 == 1 ? term : -term;
      }
    }
    // sqrt(2) cos and sin of x - n pi/2 - pi/4.
    const double cosine = n == 0 ? c + s : s - c;
    const double sine = n == 0 ? s - c : -c - s;
    all.j[n] = root * (p * cosine - q * sine);
    all.y[n] = root * (p * sine + q * cosine);
  }
  return all;
}

static struct dl_bessel dl_bessel_of(double x) {
  return x < 25 ? dl_bessel_recurrence(x) : dl_bessel_expansion(x);
}

double j0(double x) {
  x = fabs(x);
  if (isinf(x)) return 0;
  return x < 0x1p-27 ? (isnan(x) ? x : 1) : dl_bessel_of(x).j[0];
}
double j1(double x) {
  const double size = fabs(x);
  if (isinf(size)) return 0;
  // The recurrence would overflow; x / 2 is the whole value.
  const double found = size < 0x1p-27 || isnan(x) ? size / 2 : dl_bessel_of(size).j[1];
  return x < 0 ? -found : found;
}
// Arguments are not negative: callers handle those.
double y0(double x) {
  if (isinf(x)) return 0;
  if (isnan(x)) return x;
  return x < 0x1p-27 ? M_2_PI * (log(x / 2) + EULER_GAMMA) : dl_bessel_of(x).y[0];
}
double y1(double x) {
  if (isinf(x)) return 0;
  if (isnan(x)) return x;
  return x < 0x1p-27 ? -M_2_PI / x : dl_bessel_of(x).y[1];
}
