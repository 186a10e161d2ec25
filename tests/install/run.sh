#!/usr/bin/env bash
# Installs a build into a scratch prefix and builds against nothing but that prefix: a consumer in C
# and one in C++, found by CMake and by pkg-config, and the example plugin, which is then run by the
# installed program.  The prefix is moved before it is used: an installed tree is relocatable.
#
# usage: tests/install/run.sh BUILD_DIR SOURCE_DIR
set -euo pipefail

main() {
  build=$(realpath "$1")
  source=$(realpath "$2")
  scratch=$(mktemp --directory)
  trap 'rm -rf "${scratch}"' EXIT
  prefix=${scratch}/moved

  headline 'install'
  DESTDIR='' cmake --install "${build}" --prefix "${scratch}/installed" >"${scratch}/install.log"
  mv "${scratch}/installed" "${prefix}"
  (cd "${prefix}" && find . -type f | sort)

  headline 'consumers, by CMake'
  consume_by_cmake
  headline 'consumers, by pkg-config'
  consume_by_pkg_config
  headline 'the installed program'
  run_program
  headline 'the example plugin'
  build_example_plugin
}

headline() {
  printf '\n== %s\n' "$1"
}

consume_by_cmake() {
  cmake -S "${source}/tests/install/consumer" -B "${scratch}/consumer" -G Ninja \
    -DCMAKE_PREFIX_PATH="${prefix}" -DEXPECTED_PREFIX="${prefix}"
  cmake --build "${scratch}/consumer"
  "${scratch}/consumer/consumer_c"
  "${scratch}/consumer/consumer_cxx"
}

consume_by_pkg_config() {
  local pc_dir
  pc_dir=$(dirname "$(find "${prefix}" -name bellwether.pc)")
  local -a flags
  read -r -a flags <<<"$(PKG_CONFIG_LIBDIR=${pc_dir} pkg-config --cflags --libs bellwether)"
  echo "${flags[@]}"
  local strictly=(-Wall -Wextra -Wpedantic -Werror)
  local consumer=${source}/tests/install/consumer
  gcc -std=c11 "${strictly[@]}" "${consumer}/consumer.c" "${flags[@]}" -o "${scratch}/pc_c"
  g++ -std=c++20 "${strictly[@]}" "${consumer}/consumer.cc" "${flags[@]}" -o "${scratch}/pc_cxx"
  "${scratch}/pc_c"
  "${scratch}/pc_cxx"

  local plugin_dir
  plugin_dir=$(PKG_CONFIG_LIBDIR=${pc_dir} pkg-config --variable=plugindir bellwether)
  [[ $(realpath "${plugin_dir}") == "$(realpath "${prefix}")"/* ]]
}

# The program must find the plugin that was installed with it, wherever the prefix lies.
run_program() {
  "${prefix}/bin/bellwether" --version
  "${prefix}/bin/bellwether" simulate "${source}/tests/install/elects.txt"
}

build_example_plugin() {
  local example=${source}/examples/minimal_plugin
  cmake -S "${example}" -B "${scratch}/example" -G Ninja -DCMAKE_PREFIX_PATH="${prefix}"
  cmake --build "${scratch}/example"
  "${prefix}/bin/bellwether" simulate --plugin "${scratch}/example/bellwether-lowest.so" \
    "${example}/elects.txt"
  DESTDIR='' cmake --install "${scratch}/example"
  find "${prefix}/lib" -name bellwether-lowest.so | grep .
}

main "$@"
