# BELLWETHER_PRECOMPILE: headers of libraries are parsed once, not in each source, which halves
# the time of CI's builds.  A source that forgets to include one of them is found by the preset dev,
# which does without.
set(headers
  <algorithm> <array> <atomic> <chrono> <compare> <deque> <filesystem> <functional> <map> <memory>
  <optional> <set> <span> <sstream> <string> <string_view> <system_error> <unordered_map> <utility>
  <variant> <vector> <fmt/format.h> <boost/uuid/uuid.hpp>)
find_package(fmt 9.1 REQUIRED)
set(empty "${CMAKE_CURRENT_LIST_DIR}/precompiled_headers.cc")

# Position-independent code cannot share a precompiled header with position-independent executables.
add_library(bellwether_library_headers OBJECT "${empty}")
target_link_libraries(bellwether_library_headers PRIVATE fmt::fmt)
target_precompile_headers(bellwether_library_headers PRIVATE ${headers})

add_executable(bellwether_test_headers "${empty}")
target_link_libraries(bellwether_test_headers PRIVATE bellwether_boost_test_main fmt::fmt)
target_precompile_headers(bellwether_test_headers PRIVATE
  ${headers} <fstream> <thread> <boost/test/unit_test.hpp>)

target_precompile_headers(bellwether PRIVATE ${headers} <CLI/CLI.hpp>)

# Lets a target use the precompiled header of another one.  What fmt defines has to be the same, and
# not all use fmt; and g++ forgets that what it takes from there is a system's, and warns about it.
function(bellwether_precompile target owner)
  target_precompile_headers(${target} REUSE_FROM ${owner})
  target_compile_definitions(${target} PRIVATE FMT_SHARED)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-stringop-overread>")
endfunction()

# Lets the libraries of these folders, and of those below, use the one of libraries.
function(bellwether_precompile_libraries)
  foreach(folder IN LISTS ARGN)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
        bellwether_precompile(${target} bellwether_library_headers)
      endif()
    endforeach()
    get_property(below DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    bellwether_precompile_libraries(${below})
  endforeach()
endfunction()
bellwether_precompile_libraries("${PROJECT_SOURCE_DIR}/plugin" "${PROJECT_SOURCE_DIR}/metrics"
  "${PROJECT_SOURCE_DIR}/sidecar")
