// A vendor of float32 and int32, with its own memory and asynchronous work; the torch-free host's
// tests use it too.
#define FIXTURE_NAME "stub"
#define FIXTURE_CAPABILITIES 0
#define FIXTURE_HIDDEN 1
#define FIXTURE_DEFERRED 1
#define FIXTURE_OPERATORS "narrow.inc"
#include "../../packages/diopi-proto/tests/fixtures/vendor.cpp"
