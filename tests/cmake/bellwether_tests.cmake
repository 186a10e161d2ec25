# The functions by which tests are added.  One CTest test is one Boost.Test case or one scenario, so
# that `ctest -R` finds each by its name and a failure names itself.

# bellwether_add_boost_test(NAME SOURCES ... [ALONE ...] [LIBRARIES ...] [LABELS ...] [PREFIX unit])
#
# Builds one executable of Boost.Test cases; the sources define suites, main() is there already.
# ALONE has sources that no unity build includes.
# Each case becomes a test `<PREFIX>.<suite>/<case>`, with the labels of the case, of its suites and
# LABELS.  Under a sanitizer a process takes longer to start than most cases to run: there the cases
# of a suite that only compute are one test `<PREFIX>.<suite>`, and results.py counts them.
function(bellwether_add_boost_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PREFIX" "SOURCES;ALONE;LIBRARIES;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "bellwether_add_boost_test(${name}): sources, and known words only, please")
  endif()
  if(NOT arg_PREFIX)
    set(arg_PREFIX unit)
  endif()

  add_executable(${name} ${arg_SOURCES} ${arg_ALONE})
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(${name} PRIVATE bellwether_boost_test_main ${arg_LIBRARIES})
  # What has C in it is about headers of this project, which include themselves what they need.
  if(BELLWETHER_PRECOMPILE AND NOT "${arg_SOURCES};" MATCHES "[.]c;")
    bellwether_precompile(${name} bellwether_test_headers)
  endif()

  set(grain case)
  if(BELLWETHER_SANITIZE AND arg_PREFIX MATCHES "^(unit|abi|api|config|doctor|metrics)$")
    set(grain suite)
  endif()
  # A minute of computing under a sanitizer takes five beside seven others on two busy cores.
  set(timeout 1200)
  set(discover "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/discover_boost_cases.cmake")
  set(cases "${CMAKE_CURRENT_BINARY_DIR}/${name}.cases.cmake")
  list(JOIN arg_LABELS " " labels)
  set_target_properties(${name} PROPERTIES LINK_DEPENDS "${discover}")
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM
    BYPRODUCTS "${cases}"
    COMMAND "${CMAKE_COMMAND}"
      "-DEXECUTABLE=$<TARGET_FILE:${name}>"
      "-DPREFIX=${arg_PREFIX}"
      "-DLABELS=${labels}"
      "-DTIMEOUT=${timeout}"
      "-DGRAIN=${grain}"
      "-DOUTPUT=${cases}"
      -P "${discover}")

  # An executable that was not built must not look like one without cases.
  set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${name}.include.cmake")
  file(CONFIGURE OUTPUT "${include_file}" @ONLY CONTENT [[
if(EXISTS "@cases@")
  include("@cases@")
else()
  add_test("@arg_PREFIX@.@name@_was_not_built" "@name@_was_not_built")
endif()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endfunction()

# bellwether_add_computing_test(NAME LABEL LANE COMMAND...)
#
# A test that computes for long.  It takes what of the cores the tests beside it do not want, so
# that their timeouts mean what they say, but goes before the build of the next preset (run.sh),
# which takes all cores when only one of these is left; one of its lane at a time.  There are four:
# two of simulations, the models, clang-tidy, each of one to three minutes of a free core.
function(bellwether_add_computing_test name label lane)
  add_test(NAME "${name}" COMMAND nice -n 19 ${ARGN})
  set_tests_properties("${name}" PROPERTIES LABELS "${label}" TIMEOUT 3600 COST 3000
    RESOURCE_LOCK "computing_${lane}" ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
endfunction()

# bellwether_add_python_cases(SCRIPT PREFIX
#   [ARGUMENTS ...] [ENVIRONMENT ...] [LANES ...] [PROPERTIES ...] [EXCEPT REGEX])
#
# Every `def test_NAME` in a class of the script becomes a test `<PREFIX>/NAME`, run as `SCRIPT
# ARGUMENTS... Class.test_NAME`; CLASS in the prefix stands for the name of its class.
# Those whose names match REGEX are left out.  LANES: one of each lane runs at a time, and the cases
# are dealt out to them.
function(bellwether_add_python_cases script prefix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXCEPT" "ARGUMENTS;ENVIRONMENT;LANES;PROPERTIES")
  cmake_path(ABSOLUTE_PATH script)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
  file(STRINGS "${script}" lines REGEX "^class [A-Za-z0-9]+\\(|^    def test_")
  foreach(line IN LISTS lines)
    if(line MATCHES "^class ([A-Za-z0-9]+)")
      set(class ${CMAKE_MATCH_1})
    elseif(line MATCHES "def test_([a-z0-9_]+)")
      set(case ${CMAKE_MATCH_1})
      if(arg_EXCEPT AND case MATCHES "${arg_EXCEPT}")
        continue()
      endif()
      string(REPLACE CLASS "${class}" name "${prefix}/${case}")
      add_test(NAME "${name}"
        COMMAND Python3::Interpreter "${script}" ${arg_ARGUMENTS} "${class}.test_${case}")
      set_tests_properties("${name}" PROPERTIES
        ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1;${arg_ENVIRONMENT}" ${arg_PROPERTIES})
      if(arg_LANES)
        list(POP_FRONT arg_LANES lane)
        list(APPEND arg_LANES "${lane}")
        set_tests_properties("${name}" PROPERTIES RESOURCE_LOCK "${lane}")
      endif()
    endif()
  endforeach()
endfunction()

# bellwether_add_scenarios(DIR [LABELS ...])
#
# Every *.txt below DIR becomes a test `scenario.<path>.<variant>`, once per variant unless its
# `nodes` line names one.  mutants/ is left out: those must fail, and a unit test sees to it.
function(bellwether_add_scenarios dir)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS")
  cmake_path(ABSOLUTE_PATH dir NORMALIZE)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${dir}" "${dir}/*.txt")
  list(FILTER files EXCLUDE REGEX "(^|/)(mutants/|CMakeLists\\.txt$)")
  foreach(file IN LISTS files)
    # Editing a scenario may change its variants.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${dir}/${file}")
    string(REGEX REPLACE "\\.txt$" "" path "${file}")
    file(STRINGS "${dir}/${file}" named_variants REGEX "^nodes .*variant=")
    if(named_variants)
      string(REGEX MATCH "variant=([a-z_]+)" unused "${named_variants}")
      bellwether_add_scenario("scenario.${path}.${CMAKE_MATCH_1}" "${dir}/${file}")
    else()
      foreach(variant IN ITEMS classic modified)
        bellwether_add_scenario("scenario.${path}.${variant}" "${dir}/${file}" --variant ${variant})
      endforeach()
    endif()
  endforeach()
endfunction()

# One run of one scenario file; inside bellwether_add_scenarios only.
macro(bellwether_add_scenario name file)
  add_test(NAME "${name}" COMMAND bellwether simulate ${ARGN} "${file}")
  set_tests_properties("${name}" PROPERTIES TIMEOUT 300 LABELS "scenario;${arg_LABELS}")
endmacro()
