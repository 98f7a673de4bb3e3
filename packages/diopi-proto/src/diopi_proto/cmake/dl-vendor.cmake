# Build a vendor library by the rules of diopi_proto.build:
#
#   include(dl-vendor.cmake)
#   dl_vendor_library(dl_vendor_x SOURCES csrc/plugin.cpp)
#
# makes a target whose file is libdl_vendor_x.so. EXPORTS lists what it exports (default dl_vendor_v1);
# LEGACY marks a library in DIOPI's style, whose runtime functions the host provides.
cmake_minimum_required(VERSION 3.18)

if(IS_DIRECTORY "${CMAKE_CURRENT_LIST_DIR}/../include")
  get_filename_component(DL_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../include" ABSOLUTE)
else()
  get_filename_component(DL_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
endif()

set(DL_COMMON_FLAGS -O3 -fPIC -fvisibility=hidden)
set(DL_C_FLAGS -std=c11)
set(DL_CXX_FLAGS -std=c++17 -fvisibility-inlines-hidden -fno-gnu-unique)
set(DL_LINK_FLAGS -shared -Wl,-Bsymbolic -Wl,--as-needed)
set(DL_COMPLETE_FLAGS -Wl,-z,defs)

function(dl_vendor_library target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "LEGACY" "" "SOURCES;EXPORTS")
  if(NOT ARG_EXPORTS)
    set(ARG_EXPORTS dl_vendor_v1)
  endif()
  list(JOIN ARG_EXPORTS "; " names)
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
  file(WRITE "${script}" "{\n  global: ${names};\n  local: *;\n};\n")

  add_library(${target} SHARED ${ARG_SOURCES})
  target_include_directories(${target} PRIVATE "${DL_INCLUDE_DIR}")
  target_compile_options(
    ${target}
    PRIVATE ${DL_COMMON_FLAGS} $<$<COMPILE_LANGUAGE:C>:${DL_C_FLAGS}>
            $<$<COMPILE_LANGUAGE:CXX>:${DL_CXX_FLAGS}>)
  target_link_options(${target} PRIVATE ${DL_LINK_FLAGS} "LINKER:--version-script=${script}")
  if(NOT ARG_LEGACY)
    target_link_options(${target} PRIVATE ${DL_COMPLETE_FLAGS})
  endif()
  set_target_properties(${target} PROPERTIES NO_SONAME ON SKIP_BUILD_RPATH ON LINK_DEPENDS "${script}")
endfunction()
