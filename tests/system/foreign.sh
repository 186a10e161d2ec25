#!/usr/bin/env bash
# Fetches what other people's programs are made of, for tests that meet them: go-spiffe, client-go
# and a Go that can build them (Debian 13), and Consul with its own authority (Debian 11).  Nothing
# is installed, all of it is unpacked into a folder of its own.  Downloads about 190 MB.
#
# usage: foreign.sh [FOLDER]      default: ~/.cache/bellwether-foreign, where foreign.py looks
set -euo pipefail

readonly folder="${1:-${HOME}/.cache/bellwether-foreign}"
readonly mirror="${BELLWETHER_DEBIAN_MIRROR:-http://deb.debian.org/debian}"

# unpack SUITE PACKAGE...: with what they need of that suite; checked by apt, as ever.
unpack() {
  local suite="$1"
  shift
  local work="${folder}/apt/${suite}" root="${folder}/${suite}"
  if [[ "$(cat "${root}/.complete" 2>/dev/null)" == "$*" ]]; then
    echo "${suite}: is there"
    return
  fi
  mkdir -p "${work}/lists/partial" "${work}/archives/partial" "${work}/preferences"
  : >"${work}/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror} ${suite} main" \
    >"${work}/sources.list"
  local options=(
    -o "Dir::Etc::SourceList=${work}/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::Etc::PreferencesParts=${work}/preferences" -o "Dir::State::Lists=${work}/lists"
    -o "Dir::State::Status=${work}/status" -o "Dir::Cache=${work}"
    -o "Dir::Cache::Archives=${work}/archives" -o APT::Sandbox::User=root
    -o Acquire::Languages=none -o APT::Install-Recommends=false
  )
  apt-get "${options[@]}" --quiet --quiet update
  apt-get "${options[@]}" --quiet --quiet --download-only --yes install "$@"
  local package
  for package in "${work}"/archives/*.deb; do
    dpkg-deb --extract "${package}" "${root}"
  done
  rm -r "${folder}/apt"
  echo "$*" >"${root}/.complete"
  echo "${suite}: $*"
}

unpack trixie golang-github-spiffe-go-spiffe-dev golang-k8s-client-go-dev golang-1.24-go
unpack bullseye consul
