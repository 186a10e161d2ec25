#!/usr/bin/env bash
# Installs the Debian packages in a fresh Debian 12 that runs systemd, as the operations guide says,
# and uses them: the unit with all its restrictions leads, comes back when it is killed, ends
# cleanly, and a purge leaves only what the administrator wrote.  A check before a release; needs
# podman, the network for apt, and a build folder to make the packages of (build/release).
set -euo pipefail

readonly usage='usage: tests/install/try_package.sh [BUILD_FOLDER]   (build/release)'
if [[ ${1:-} == --help ]]; then
  echo "${usage}"
  exit
fi
readonly build=${1:-build/release}
if [[ $# -gt 1 || ! -f ${build}/CPackConfig.cmake ]]; then
  echo "${build} is no build folder: cmake --preset release && cmake --build --preset release" >&2
  echo "${usage}" >&2
  exit 2
fi
readonly name=bellwether-try-package
readonly patience_s=60
folder=$(mktemp --directory --tmpdir "${name}.XXXXXX")
readonly folder

main() {
  exec </dev/null
  trap clean_up EXIT
  make_image
  podman run --detach --name "${name}" --systemd always --network none "${name}" /sbin/init \
    >/dev/null
  await 'systemd is up' inside systemctl is-system-running
  install_packages
  lead
  come_back
  stop_and_purge
}

# All that an installation fetches is fetched here: the machine itself has no network, so that its
# ports are its own.
make_image() {
  cpack --config "${build}/CPackConfig.cmake" -G DEB -B "${folder}/packages" >/dev/null
  cat >"${folder}/Dockerfile" <<'END'
FROM docker.io/library/debian:12-slim
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install --yes --no-install-recommends systemd systemd-sysv dbus
COPY packages/*.deb /packages/
RUN apt-get install --download-only --yes --no-install-recommends /packages/*.deb
END
  podman build --network host --quiet --tag "${name}" "${folder}" >/dev/null
}

install_packages() {
  inside sh -c 'apt-get install --yes --no-install-recommends /packages/*.deb' \
    >"${folder}/install.log" 2>&1 || { cat "${folder}/install.log" >&2 && exit 1; }
  expect 'it is not enabled' 'disabled' "$(inside systemctl is-enabled bellwether || true)"
  expect 'it is not started' 'inactive' "$(inside systemctl is-active bellwether || true)"
  expect 'its headers are found' '/usr/include/bellwether/leader_flag.h' \
    "$(inside ls /usr/include/bellwether/leader_flag.h)"
}

lead() {
  inside cp /etc/bellwether/bellwether.toml.example /etc/bellwether/bellwether.toml
  inside systemctl enable --now --quiet bellwether
  expect 'it is enabled and runs' 'enabled active' \
    "$(inside systemctl is-enabled bellwether) $(inside systemctl is-active bellwether)"
  await 'it leads' leads
  inside bellwether status | sed 's/^/  /'
  expect 'the flag is for its group only' 'bellwether 640' \
    "$(inside stat --format '%G %a' /run/bellwether/orders)"
  expect 'it is nobody of importance' \
    'User: bellwether CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2' "$(restrictions)"
  expect 'its memory is kept for its end' 'memory-keeper S' \
    "$(inside sh -c 'sed --quiet "s/.*(\(memory-keeper\)) \(.\).*/\1 \2/p" /proc/[0-9]*/stat')"
}

come_back() {
  local before
  before=$(main_process)
  # The flag's first word, which the kernel changes for the dead: in the second before systemd
  # starts another process.
  expect 'it is killed, and the kernel puts its flag out' '4' "$(inside sh -c "
    kill -KILL ${before}
    while [ -e /proc/${before} ]; do :; done
    od --address-radix n --format x4 --read-bytes 4 /run/bellwether/orders | cut --characters 2")"
  await 'systemd starts it again' has_another_process_than "${before}"
  await 'it leads again' leads
}

stop_and_purge() {
  inside systemctl stop bellwether
  expect 'it ends by itself' 'success inactive' \
    "$(inside systemctl show --property Result --value bellwether) $(
      inside systemctl is-active bellwether || true)"
  inside journalctl --unit bellwether --no-pager --output cat | grep --quiet 'left the group'
  echo 'it has left the group'
  inside systemctl start bellwether
  inside apt-get purge --yes bellwether libbellwether-dev >/dev/null
  expect 'a purge stops it' 'inactive' "$(inside systemctl is-active bellwether || true)"
  expect 'nor a file, but what the administrator wrote' \
    $'/etc/bellwether\n/etc/bellwether/bellwether.toml' \
    "$(inside find / -xdev -path /packages -prune -o -name '*bellwether*' -print)"
}

inside() { podman exec "${name}" "$@"; }

leads() { inside bellwether status | grep --quiet ' leads, epoch '; }

main_process() { inside systemctl show --property MainPID --value bellwether; }

has_another_process_than() {
  local now
  now=$(main_process)
  [[ ${now} != 0 && ${now} != "$1" ]]
}

# One line of what the kernel holds against the process.
restrictions() {
  local process user
  process=$(main_process)
  user=$(inside stat --format %U "/proc/${process}")
  echo "User: ${user}" "$(inside grep --extended-regexp '^(CapEff|NoNewPrivs|Seccomp):' \
    "/proc/${process}/status" | tr --squeeze-repeats '\t\n' '  ' | sed 's/ $//')"
}

# expect WHAT EXPECTED SEEN
expect() {
  if [[ $3 != "$2" ]]; then
    printf 'FAILED: %s\n  expected: %s\n  seen:     %s\n' "$1" "$2" "$3" >&2
    inside journalctl --unit bellwether --no-pager --lines 30 >&2 || true
    exit 1
  fi
  echo "$1"
}

# await WHAT COMMAND...: until the command succeeds.
await() {
  local what=$1 deadline=$((SECONDS + patience_s))
  shift
  until "$@" >/dev/null 2>&1; do
    if [[ ${SECONDS} -ge ${deadline} ]]; then
      inside journalctl --no-pager --lines 50 >&2 || true
      echo "waited ${patience_s} s in vain: ${what}" >&2
      exit 1
    fi
    sleep 0.1
  done
  echo "${what}"
}

clean_up() {
  podman rm --force --ignore --time 1 "${name}" >/dev/null 2>&1 || true
  podman rmi "${name}" >/dev/null 2>&1 || true
  rm -r "${folder}"
}

main "$@"
