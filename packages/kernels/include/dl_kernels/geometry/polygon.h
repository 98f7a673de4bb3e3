// Convex polygons with few corners: hulls, areas, intersections. Everything is in double, so that
// thin polygons stay accurate.
#ifndef DL_KERNELS_GEOMETRY_POLYGON_H_
#define DL_KERNELS_GEOMETRY_POLYGON_H_

#include <cmath>

#include "dl_kernels/base/config.h"

DL_KERNELS_BEGIN

struct Point {
  double x, y;
};

DL_FN Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
DL_FN double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
DL_FN double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }
// Not std::hypot: with a recent C library it would bind wheels to a new symbol version.
DL_FN double length(Point a) { return std::sqrt(dot(a, a)); }

// Corners in counter-clockwise order. More than kMost are dropped, which never happens for convex
// polygons of this use.
struct Polygon {
  static constexpr int kMost = 20;
  Point corners[kMost];
  int count = 0;

  Polygon() = default;
  // Copy only the existing corners: the others are uninitialized.
  DL_FN Polygon(const Polygon& other) { *this = other; }
  DL_FN Polygon& operator=(const Polygon& other) {
    count = other.count;
    for (int i = 0; i < count; ++i) corners[i] = other.corners[i];
    return *this;
  }

  DL_FN void add(Point corner) {
    if (count < kMost) corners[count++] = corner;
  }
  DL_FN Point after(int i) const { return corners[i + 1 < count ? i + 1 : 0]; }
  // Positive if counter-clockwise.
  DL_FN double area() const {
    double twice = 0;
    for (int i = 1; i + 1 < count; ++i)
      twice += cross(corners[i] - corners[0], corners[i + 1] - corners[0]);
    return twice / 2;
  }
};

// Four corners x, y in either orientation, relative to `origin`.
DL_FN Polygon quadrilateral(const double* numbers, Point origin) {
  Polygon result;
  for (int i = 0; i < 4; ++i) result.add(Point{numbers[2 * i], numbers[2 * i + 1]} - origin);
  if (result.area() >= 0) return result;
  const Point second = result.corners[1];
  result.corners[1] = result.corners[3];
  result.corners[3] = second;
  return result;
}

// A rectangle rotated about its center by an angle from x toward y, relative to `origin`.
DL_FN Polygon rectangle(Point center, double width, double height, double angle, Point origin) {
  const double c = std::cos(angle), s = std::sin(angle);
  const double w = std::fabs(width) / 2, h = std::fabs(height) / 2;
  const Point at = center - origin;
  Polygon result;
  const double signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (const auto& sign : signs) {
    const double x = sign[0] * w, y = sign[1] * h;
    result.add({at.x + c * x - s * y, at.y + s * x + c * y});
  }
  return result;
}

// Intersection: one polygon is clipped at each side of the other. Source: Sutherland and Hodgman,
// Reentrant polygon clipping (1974).
DL_FN Polygon intersection(Polygon rest, const Polygon& other) {
  for (int side = 0; side < other.count; ++side) {
    const Point from = other.corners[side], along = other.after(side) - from;
    Polygon clipped;
    for (int i = 0; i < rest.count; ++i) {
      const Point a = rest.corners[i], b = rest.after(i);
      const double left_a = cross(along, a - from), left_b = cross(along, b - from);
      if (left_a >= 0) clipped.add(a);
      if ((left_a > 0 && left_b < 0) || (left_a < 0 && left_b > 0)) {
        const double t = left_a / (left_a - left_b);
        clipped.add({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)});
      }
    }
    rest = clipped;
  }
  return rest;
}

// The convex hull of at most Polygon::kMost points, counter-clockwise from the leftmost, and the
// indices of its corners. Source: Andrew, Another efficient algorithm for convex hulls in two
// dimensions (1979).
struct Hull {
  Polygon polygon;
  int indices[Polygon::kMost];
};
DL_FN Hull hull_of(const Point* points, int count) {
  int order[Polygon::kMost], chain[2 * Polygon::kMost];
  for (int i = 0; i < count; ++i) {
    int at = i;
    for (; at > 0; --at) {
      const Point a = points[order[at - 1]], b = points[i];
      if (!(b.x < a.x || (b.x == a.x && b.y < a.y))) break;
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
  int used = 0;
  const auto append = [&](int index, int least) {
    while (used - least >= 2) {
      const Point a = points[chain[used - 2]], b = points[chain[used - 1]];
      if (cross(b - a, points[index] - b) > 0) break;
      --used;
    }
    chain[used++] = index;
  };
  for (int i = 0; i < count; ++i) append(order[i], 0);
  const int lower = used - 1;
  for (int i = count - 2; i >= 0; --i) append(order[i], lower);
  Hull hull;
  for (int i = 0; i + 1 < used && i < Polygon::kMost; ++i) {
    hull.indices[i] = chain[i];
    hull.polygon.add(points[chain[i]]);
  }
  return hull;
}

DL_KERNELS_END

#endif  // DL_KERNELS_GEOMETRY_POLYGON_H_
