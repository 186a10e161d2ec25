#!/usr/bin/env bash
# See it work: three pods on this machine, each a small application that works only while the
# leader flag says that it leads (../apps/c/worker.c), and its sidecar.  The leading sidecar is
# killed, the others take over; then the variant is switched in the TOML, and the leader is killed
# again.
set -euo pipefail

readonly usage='usage: examples/quickstart/run.sh [--keep] [--help]
  (nothing)  builds, shows a takeover with each variant, and cleans up
  --keep     leaves the three pods running, and prints where to look'

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly root
# shellcheck source=../../tests/packages.sh
source "${root}/tests/packages.sh"

readonly program="${root}/build/release/bin/bellwether"
readonly pods=(orders-0 orders-1 orders-2)
readonly patience_s=10
keep=false
folder=
flags=
first_port=
declare -A sidecar=() # process ids, by pod
declare -A worker=()

main() {
  case "${1:-}" in
    '') ;;
    --keep) keep=true ;;
    --help)
      echo "${usage}"
      exit 0
      ;;
    *)
      printf 'unknown argument: %s\n%s\n' "$1" "${usage}" >&2
      exit 2
      ;;
  esac
  exec </dev/null
  folder=$(mktemp --directory --tmpdir bellwether-quickstart.XXXXXX)
  flags=$(mktemp --directory /dev/shm/bellwether-quickstart.XXXXXX)
  trap clean_up EXIT
  build
  first_port=$(free_ports $((3 * ${#pods[@]})))
  start_pods
  show_takeover modified
  switch_variant classic
  show_takeover classic
  explain_messages
  finish
}

# --- build ---

build() {
  say 'Packages'
  install_missing "${build_packages[@]}"
  say 'Build'
  cd "${root}"
  cmake --preset release >"${folder}/configure.out"
  cmake --build --preset release
}

# --- pods ---

start_pods() {
  say 'Three pods start'
  gcc -std=c11 -O2 -I"${root}/include" "${root}/examples/apps/c/worker.c" -o "${folder}/worker"
  for pod in "${pods[@]}"; do
    write_config "${pod}" modified
    start_sidecar "${pod}"
    "${folder}/worker" "${flags}/${pod}" "${pod}" >"${folder}/${pod}.work" 2>&1 &
    worker[${pod}]=$!
  done
  await 'a leader' leader_works
  local leader
  leader=$(working_pod)
  echo "${leader} leads: it has the highest priority.  Its application works, the others sleep."
}

# Priorities by ordinal, so that everybody can tell who will lead.
write_config() {
  local pod=$1 variant=$2 ordinal=${1##*-}
  cat >"${folder}/${pod}.toml.new" <<TOML
[group]
name = "orders"

[node]
name = "${pod}"
priority = $((100 + ordinal))
listen = "127.0.0.1:$((first_port + ordinal))"
state_dir = "${folder}/${pod}.state"

[election]
variant = "${variant}"

[membership]
peers = [
  "127.0.0.1:${first_port}",
  "127.0.0.1:$((first_port + 1))",
  "127.0.0.1:$((first_port + 2))",
]

[api]
listen = "127.0.0.1:$(api_port "${pod}")"

[metrics]
listen = "127.0.0.1:$((first_port + 6 + ordinal))"

[flag]
path = "${flags}/${pod}"
TOML
  mv "${folder}/${pod}.toml.new" "${folder}/${pod}.toml"
}

api_port() { echo $((first_port + 3 + ${1##*-})); }

start_sidecar() {
  "${program}" run --config "${folder}/$1.toml" >>"${folder}/$1.log" 2>&1 &
  sidecar[$1]=$!
}

# The first of so many ports in a row on which nobody listens.
free_ports() {
  local count=$1 first port
  for ((first = 17946; first < 60000; first += count)); do
    for ((port = first; port < first + count; ++port)); do
      if (exec 3<>"/dev/tcp/127.0.0.1/${port}") 2>/dev/null; then
        continue 2
      fi
    done
    echo "${first}"
    return
  done
  fail 'no free ports'
}

# --- takeovers ---

show_takeover() {
  local variant=$1 leader successor killed_at
  leader=$(working_pod)
  say "kill -9 of the sidecar of ${leader}, which leads; variant ${variant}"
  local -A before=()
  for type in ELECTION ANSWER HANDOVER COORDINATOR; do
    before[${type}]=$(messages "${type}" "${leader}")
  done
  local lines_before
  lines_before=$(cat "${folder}"/*.work | wc -l)
  killed_at=${EPOCHREALTIME/[.,]/}
  kill -KILL "${sidecar[${leader}]}"
  wait "${sidecar[${leader}]}" 2>/dev/null || true
  await 'a successor' has_new_worker "${leader}" "${lines_before}"
  successor=$(working_pod)
  local stopped_ms works_ms token
  stopped_ms=$(ms $(($(last_time "${leader}" stopped) - killed_at)))
  works_ms=$(ms $(($(last_time "${successor}" works) - killed_at)))
  token=$(sed --quiet 's/.* works token=\([0-9]*\) .*/\1/p' "${folder}/${successor}.work" |
    tail -n 1)
  echo "  after ${stopped_ms} ms the application of ${leader} had stopped: its flag went off"
  echo "  after ${works_ms} ms the application of ${successor} works, fencing token ${token}"
  local type count total=0 text=
  for type in ELECTION ANSWER HANDOVER COORDINATOR; do
    count=$(($(messages "${type}" "${leader}") - before[${type}]))
    total=$((total + count))
    text+="${type} ${count}, "
  done
  echo "  messages of this election, from /metrics: ${text}together ${total}"

  echo "  the sidecar of ${leader} is started again, and takes its place back"
  start_sidecar "${leader}"
  await "the return of ${leader}" is_working "${leader}"
}

explain_messages() {
  say 'The messages of the two variants'
  echo 'Of three pods the next-highest notices that the leader died, and has nobody to ask: either'
  echo 'variant costs it N-2 COORDINATOR.  The worst case, in which the lowest of many notices, is'
  echo "counted by ${program} simulate"
}

# A tool of milliseconds for shells without fractions.
ms() { printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)); }

switch_variant() {
  say "The variant becomes $1 in the three TOML files; the sidecars notice by themselves"
  for pod in "${pods[@]}"; do
    write_config "${pod}" "$1"
  done
  await 'the new variant everywhere' all_want "$1"
  echo "$(working_pod) still leads; the next election will be held with the new variant."
}

# Messages of a type that the living pods sent, or tried to.
messages() {
  local type=$1 dead=$2 sum=0 count pod
  for pod in "${pods[@]}"; do
    [[ ${pod} != "${dead}" ]] || continue
    count=$(get "${pod}" /metrics | awk -v type="type=\"${type}\"" '
      /^bellwether_messages_total/ && index($0, type) && !/received/ {sum += $NF}
      END {print sum + 0}')
    sum=$((sum + count))
  done
  echo "${sum}"
}

# get POD PATH: the body of the answer of its API.
get() {
  local port
  port=$(api_port "$1")
  exec 3<>"/dev/tcp/127.0.0.1/${port}"
  printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$2" >&3
  sed '1,/^\r$/d' <&3
  exec 3<&-
}

# --- what the applications say ---

last_time() { sed --quiet "s/^\\([0-9]*\\) $1 $2 .*/\\1/p" "${folder}/$1.work" | tail -n 1; }

is_working() { tail -n 1 "${folder}/$1.work" 2>/dev/null | grep --quiet ' works '; }

working_pod() {
  for pod in "${pods[@]}"; do
    if is_working "${pod}"; then
      echo "${pod}"
      return
    fi
  done
}

leader_works() { is_working "${pods[-1]}"; }

has_new_worker() {
  local old=$1 lines_before=$2 pod
  pod=$(working_pod)
  [[ -n ${pod} && ${pod} != "${old}" ]] &&
    [[ $(cat "${folder}"/*.work | wc -l) -ge $((lines_before + 2)) ]]
}

all_want() {
  local pod
  for pod in "${pods[@]}"; do
    get "${pod}" /v1/status | grep --quiet "\"variant\": *\"$1\"" || return 1
    get "${pod}" /metrics | grep --quiet '^bellwether_config_mismatch{.*} 0$' || return 1
  done
}

# --- the rest ---

# await WHAT COMMAND...: until the command succeeds.
await() {
  local what=$1 deadline=$((SECONDS + patience_s))
  shift
  until "$@"; do
    if [[ ${SECONDS} -ge ${deadline} ]]; then
      tail -n 20 "${folder}"/*.log >&2
      fail "waited ${patience_s} s for ${what} in vain; the logs above say more"
    fi
    sleep 0.02
  done
}

say() { printf '\n== %s\n' "$*"; }

fail() {
  echo "quickstart: $*" >&2
  exit 1
}

finish() {
  if [[ ${keep} == false ]]; then
    say 'Done; everything is stopped and removed'
    return
  fi
  say 'The pods are left running'
  for pod in "${pods[@]}"; do
    echo "  ${pod}: http://127.0.0.1:$(api_port "${pod}")/v1/leader, /v1/members, /metrics"
  done
  echo "  ${program} watch --api http://127.0.0.1:$(api_port "${pods[0]}")"
  echo "  metrics for the dashboards (examples/grafana): ports $((first_port + 6)) and up"
  echo "  configuration and logs: ${folder}"
  echo "  to end it: kill ${sidecar[*]} ${worker[*]}; rm -r ${folder} ${flags}"
  disown -a
  trap - EXIT
}

clean_up() {
  local process
  for process in "${sidecar[@]}" "${worker[@]}"; do
    kill -TERM "${process}" 2>/dev/null || true
  done
  wait
  rm -r "${folder}" "${flags}"
}

main "$@"
