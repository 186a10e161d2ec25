#!/usr/bin/env bash
# Everything CI runs, on a fresh Debian 12 as on a developer's machine: installs the packages that
# are missing, then configures, builds and tests one preset after the other.  A preset that fails
# does not stop the next.  The last line is `N passed, N failed`; the exit status says the same.
# Tests that were skipped, for the machine lacks what they need, count as passed; how many, the line
# before says.
set -euo pipefail

readonly usage='usage: tests/run.sh [--quick] [--preset NAME]... [--help]
  (nothing)      presets ci, asan and tsan: together everything
  --quick        preset dev only
  --preset NAME  this preset of CMakePresets.json only; may be repeated'

# shellcheck source=packages.sh
source "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

presets=()
passed=0
failed=0
skipped=0

main() {
  parse_arguments "$@"
  exec </dev/null
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  if phase 'packages' install_missing "${build_packages[@]}" "${test_packages[@]}"; then
    for preset in "${presets[@]}"; do
      run_preset "${preset}"
    done
  else
    failed=1
  fi
  if [[ ${skipped} -gt 0 ]]; then
    echo "${skipped} skipped, which count as passed; 'did not run' above names them"
  fi
  echo "${passed} passed, ${failed} failed"
  [[ ${failed} -eq 0 ]]
}

parse_arguments() {
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --quick) presets+=(dev) ;;
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

# Counts a preset whose tests could not be run as one failed test.
run_preset() {
  local preset=$1
  if ! phase "${preset}: configure" cmake --preset "${preset}" ||
    ! phase "${preset}: build" build "${preset}"; then
    failed=$((failed + 1))
    return
  fi
  if [[ ${preset} == release ]]; then
    return
  fi
  local log="build/${preset}/ctest.log"
  local status=0
  phase "${preset}: test" run_tests "${preset}" "${log}" || status=$?
  # "97% tests passed, 3 tests failed out of 100"
  local summary
  summary=$(sed --quiet --regexp-extended \
    's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "${log}")
  local failures=0 total=0
  read -r failures total <<<"${summary:-0 0}"
  if [[ ${status} -ne 0 && ${failures} -eq 0 ]]; then
    failures=1
    total=$((total + 1))
  fi
  # "  12 - system.ipv6.Case.test_it (Skipped)", below "The following tests did not run:"
  local skips
  skips=$(grep --count --extended-regexp '^\s*[0-9]+ - .* \(Skipped\)$' "${log}" || true)
  skipped=$((skipped + skips))
  failed=$((failed + failures))
  passed=$((passed + total - failures))
}

build() {
  without_address_randomisation "$1" cmake --build --preset "$1"
}

# One more than the cores: the tests on real processes mostly wait.
run_tests() {
  without_address_randomisation "$1" ctest --preset "$1" --parallel "$(($(nproc) + 1))" | tee "$2"
}

# ThreadSanitizer of GCC 12 gives up when the kernel randomises more than 28 bits of an address.
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
  printf '== %s: %s, %d s\n' "${title}" "${outcome}" $((SECONDS - start))
  return "${status}"
}

main "$@"
