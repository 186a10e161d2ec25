# Run after a Boost.Test executable was linked: writes one add_test() for each of its cases, or for
# each of its outermost suites.
#
# Input: EXECUTABLE, PREFIX, LABELS (separated by blanks), TIMEOUT (s), GRAIN ("case" or "suite"),
# OUTPUT (the file to write).
# --list_content=DOT prints a graph, parents first; ids from 65536 on are cases, the others suites:
#   tu2[shape=Mrecord,...,color=green,label="suite|file.cc(5)|labels: @slow @net"];
#   tu1 -> tu2;
# A disabled case is yellow.  CMake 3.25 cannot do this itself.
#
# A case that this machine is not fit for prints "cannot be judged here: " and why: it is skipped.
cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND "${EXECUTABLE}" --list_content=DOT
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE graph)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} --list_content=DOT failed (${result}):\n${output}${graph}")
endif()

# Semicolons and brackets mean something in a CMake list.
string(REGEX REPLACE "[][;]" " " graph "${graph}")
string(REPLACE "\n" ";" graph "${graph}")

set(script "")
set(suites "")
set(count 0)
foreach(line IN LISTS graph)
  if(line MATCHES "^tu([0-9]+) .*color=([a-z]+),label=\"([^|\"]*)(.*)\"")
    set(id ${CMAKE_MATCH_1})
    set(colour_${id} ${CMAKE_MATCH_2})
    set(name_${id} "${CMAKE_MATCH_3}")
    string(REGEX MATCHALL "@[^@ |]+" labels_${id} "${CMAKE_MATCH_4}")
    string(REPLACE "@" "" labels_${id} "${labels_${id}}")
    set(path_${id} "")
  elseif(line MATCHES "^tu([0-9]+) -> tu([0-9]+)")
    set(parent ${CMAKE_MATCH_1})
    set(id ${CMAKE_MATCH_2})
    set(path_${id} "${path_${parent}}/${name_${id}}")
    list(APPEND labels_${id} ${labels_${parent}})
    if(id LESS 65536)
      continue()
    endif()
    string(REGEX REPLACE "^/" "" path "${path_${id}}")
    if(GRAIN STREQUAL "suite")
      string(REGEX REPLACE "/.*" "" path "${path}")
      if(path IN_LIST suites)
        continue()
      endif()
      list(APPEND suites "${path}")
      set(colour_${id} "")
    endif()
    string(REPLACE " " ";" labels "${LABELS}")
    list(PREPEND labels "${PREFIX}" ${labels_${id}})
    list(REMOVE_DUPLICATES labels)
    set(test "[==[${PREFIX}.${path}]==]")
    string(APPEND script
      "add_test(${test} [==[${EXECUTABLE}]==] [==[--run_test=${path}]==] --color_output=no)\n"
      "set_tests_properties(${test} PROPERTIES TIMEOUT ${TIMEOUT} LABELS [==[${labels}]==]\n"
      "  SKIP_REGULAR_EXPRESSION [==[cannot be judged here: ]==])\n")
    if(colour_${id} STREQUAL "yellow")
      string(APPEND script "set_tests_properties(${test} PROPERTIES DISABLED TRUE)\n")
    endif()
    math(EXPR count "${count} + 1")
  endif()
endforeach()
if(count EQUAL 0)
  message(FATAL_ERROR "${EXECUTABLE} has no test cases")
endif()
file(WRITE "${OUTPUT}" "${script}")
