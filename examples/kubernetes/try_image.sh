#!/usr/bin/env bash
# Runs the image as Kubernetes would, without a cluster: two pods of podman, each with two
# containers, the sidecar and a worker, which share nothing but the pod's network and a flag folder
# in memory, mounted read-only in the worker.  Non-root, read-only root, no capabilities.  Then the
# leading sidecar is killed, and the other pod's worker has to take over.  A check before a release;
# needs podman, gcc with a static C library, and the right to make networks.
set -euo pipefail

readonly image=${1:-localhost/bellwether:0.1.0}
readonly name=bellwether-try
readonly subnet=10.213.47
readonly patience_s=30
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp --directory --tmpdir "${name}.XXXXXX")
readonly root folder
readonly restricted=(--read-only --cap-drop ALL --security-opt no-new-privileges)

main() {
  exec </dev/null
  trap clean_up EXIT
  build_worker
  podman network create --subnet "${subnet}.0/24" "${name}" >/dev/null
  for ordinal in 0 1; do
    start_pod "${ordinal}"
  done
  await 'the worker of pod 1 works' says 1 works
  echo 'pod 1 leads: its worker works'
  podman kill --signal KILL "${name}-1-sidecar" >/dev/null
  await 'the worker of pod 1 stops' says 1 stopped
  await 'the worker of pod 0 works' says 0 works
  echo 'its sidecar was killed: its worker stopped, that of pod 0 works'
  podman start "${name}-1-sidecar" >/dev/null
  await 'the worker of pod 1 works again' works_again 1
  echo 'its sidecar was started again: its worker works again, on the flag that it had mapped'
  for ordinal in 0 1; do
    sed "s/^/  pod ${ordinal}: /" < <(podman logs "${name}-${ordinal}-worker")
  done
}

# As different from the sidecar's image as can be: not even a C library in common.
build_worker() {
  gcc -std=c11 -O2 -static -I"${root}/include" "${root}/examples/apps/c/worker.c" \
    -o "${folder}/worker"
  printf 'FROM scratch\nCOPY worker /worker\nUSER 1000:1000\nENTRYPOINT ["/worker"]\n' \
    >"${folder}/Dockerfile"
  podman build --quiet --tag "${name}-worker" "${folder}" >/dev/null
}

start_pod() {
  local pod="${name}-$1"
  cat >"${folder}/$1.toml" <<TOML
[group]
name = "orders"
[node]
name = "orders-$1"
priority = $((100 + $1))
advertise = "\${POD_IP}:7946"
[membership]
peers = ["${subnet}.10:7946", "${subnet}.11:7946"]
[flag]
path = "/run/bellwether/orders"
shared_folder = "on"
TOML
  for volume in flag state; do # what an emptyDir of medium Memory with an fsGroup is
    podman volume create --opt type=tmpfs --opt device=tmpfs \
      --opt o=gid=65532,mode=2770 "${pod}-${volume}" >/dev/null
  done
  podman pod create --name "${pod}" --network "${name}" --ip "${subnet}.1$1" >/dev/null
  podman run --detach --pod "${pod}" --name "${pod}-sidecar" "${restricted[@]}" \
    --env "POD_IP=${subnet}.1$1" --volume "${pod}-flag:/run/bellwether" \
    --volume "${folder}/$1.toml:/etc/bellwether/bellwether.toml:ro" \
    --volume "${pod}-state:/var/lib/bellwether" "${image}" >/dev/null
  podman run --detach --pod "${pod}" --name "${pod}-worker" "${restricted[@]}" \
    --group-add 65532 --volume "${pod}-flag:/run/bellwether:ro" "${name}-worker" \
    /run/bellwether/orders "orders-$1" 65532 >/dev/null
}

says() { podman logs "${name}-$1-worker" | grep --quiet " $2 "; }

works_again() { [[ $(podman logs "${name}-$1-worker" | grep --count ' works ') -ge 2 ]]; }

# await WHAT COMMAND...: until the command succeeds.
await() {
  local what=$1 deadline=$((SECONDS + patience_s))
  shift
  until "$@"; do
    if [[ ${SECONDS} -ge ${deadline} ]]; then
      for ordinal in 0 1; do
        podman logs --tail 20 "${name}-${ordinal}-sidecar" >&2 || true
      done
      echo "waited ${patience_s} s in vain: ${what}" >&2
      exit 1
    fi
    sleep 0.1
  done
}

clean_up() {
  podman pod rm --force --ignore "${name}-0" "${name}-1" >/dev/null 2>&1 || true
  podman volume rm --force "${name}"-{0,1}-{flag,state} >/dev/null 2>&1 || true
  podman network rm --force "${name}" >/dev/null 2>&1 || true
  podman rmi "${name}-worker" >/dev/null 2>&1 || true
  rm -r "${folder}"
}

main "$@"
