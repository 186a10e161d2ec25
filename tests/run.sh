#!/usr/bin/env bash
# Everything CI runs, on a fresh Debian 12 as on a developer's machine: installs the packages that
# are missing, then configures, builds and tests one preset after the other.  A preset that fails
# does not stop the next.  At the end results.py says what failed and why; the last line is
# `N passed, N failed`, and the exit status says the same.
set -euo pipefail

readonly usage='usage: tests/run.sh [--quick] [--preset NAME]... [--help]
  (nothing)      presets ci, asan and tsan: together everything
  --quick        preset quick: without sanitizers, models and clang-tidy, fewer random schedules
  --preset NAME  this preset of CMakePresets.json only; may be repeated'

# shellcheck source=packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

presets=()
failures=()  # phases, as arguments of results.py
reports=()
times=()  # how long each phase took, a line each
declare -A builders=()  # presets that are built beside tests: the process that does it

main() {
  parse_arguments "$@"
  exec </dev/null
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  if ! phase 'packages' install_missing "${build_packages[@]}" "${test_packages[@]}"; then
    echo '0 passed, 1 failed'
    return 1
  fi
  for index in "${!presets[@]}"; do
    run_preset "${presets[index]}" "${presets[index + 1]:-}"
  done
  printf '\n== time by part\n'
  printf '%s\n' "${times[@]}" "$(printf '%5d s  all' "${SECONDS}")"
  echo
  tests/results.py "${failures[@]}" "${reports[@]}"
}

parse_arguments() {
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --quick) presets+=(quick) ;;
      --preset)
        [[ $# -ge 2 ]] || refuse '--preset needs a name'
        presets+=("$2")
        shift
        ;;
      --help)
        echo "${usage}"
        exit 0
        ;;
      *) refuse "unknown argument: $1" ;;
    esac
    shift
  done
  if [[ ${#presets[@]} -eq 0 ]]; then
    presets=(ci asan tsan)
  fi
}

refuse() {
  printf '%s\n%s\n' "$1" "${usage}" >&2
  exit 2
}

# run_preset PRESET NEXT: the next one, if any, is built beside the tests, which mostly wait.
run_preset() {
  local preset=$1 next=$2
  attempt "${preset}: build" finish_build "${preset}" || return 0
  if [[ ${preset} == release ]]; then
    return
  fi
  if [[ -n ${next} ]]; then
    begin_build "${next}"
  fi
  local report="${PWD}/build/${preset}/ctest.xml"
  rm --force "${report}"
  if ! phase "${preset}: test" run_tests "${preset}" "${report}" &&
    ! names_failures "${report}"; then
    failures+=(--failed "${preset}: test")
  fi
  if [[ -f ${report} ]]; then
    reports+=("${report}")
  fi
}

# A phase that counts as one failed test when it fails.
attempt() {
  if ! phase "$@"; then
    failures+=(--failed "$1")
    return 1
  fi
}

build() {
  cmake --preset "$1" && without_address_randomisation "$1" cmake --build --preset "$1"
}

# With what of the cores nobody else wants, so that timeouts of tests mean what they say.
begin_build() {
  mkdir --parents build
  (
    chrt --idle --pid 0 "${BASHPID}"
    build "$1"
  ) &>"build/$1.log" &
  builders[$1]=$!
}

finish_build() {
  if [[ -z ${builders[$1]:-} ]]; then
    build "$1"
    return
  fi
  local status=0
  wait "${builders[$1]}" || status=$?
  cat "build/$1.log"
  return "${status}"
}

# The tests on real processes mostly wait, in lanes (RESOURCE_LOCK) of one group each: two for each
# core, and one more.  Four that compute for long take what those leave of the cores.
run_tests() {
  without_address_randomisation "$1" \
    ctest --preset "$1" --parallel "$((2 * $(nproc) + 1 + 4))" --output-junit "$2"
}

# Whether the report tells why ctest failed.
names_failures() {
  [[ -f $1 ]] && ! tests/results.py "$1" >/dev/null
}

# ThreadSanitizer gives up when the kernel randomises more than 28 bits of an address.
without_address_randomisation() {
  local preset=$1
  shift
  local prefix=()
  if [[ ${preset} == tsan ]] && setarch --addr-no-randomize true 2>/dev/null; then
    prefix=(setarch --addr-no-randomize)
  fi
  "${prefix[@]}" "$@"
}

# Runs a command under a headline and says how long it took.
phase() {
  local title=$1
  shift
  local start=${SECONDS} status=0
  printf '\n== %s\n' "${title}"
  "$@" || status=$?
  local outcome='done'
  if [[ ${status} -ne 0 ]]; then
    outcome='FAILED'
  fi
  local seconds=$((SECONDS - start))
  printf '== %s: %s, %d s\n' "${title}" "${outcome}" "${seconds}"
  times+=("$(printf '%5d s  %s' "${seconds}" "${title}")")
  return "${status}"
}

main "$@"
