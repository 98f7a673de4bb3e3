#!/usr/bin/env bash
# jit_build.sh SOURCE LIBRARY: compiles the source that mskpp generated.
set -euo pipefail
"${CXX:-c++}" -std=c++17 -O2 -march=native -fPIC -shared "$1" -o "$2"
