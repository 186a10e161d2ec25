# shellcheck shell=bash
# The packages of Debian 12 that Bellwether needs, and how the missing ones are installed.  To be
# sourced.  All are named, also those that most machines happen to have.

# shellcheck disable=SC2034  # for whoever sources this
readonly build_packages=(
  g++ gcc cmake ninja-build pkg-config ccache git
  dpkg-dev file
  libuv1-dev libssl-dev libc-ares-dev libprotobuf-dev protobuf-compiler prometheus-cpp-dev
  libtomlplusplus-dev libboost-dev libcli11-dev nlohmann-json3-dev libfmt-dev libspdlog-dev
)

# shellcheck disable=SC2034
test_packages=(
  libboost-test-dev clang-14 libclang-rt-14-dev lld-14 clang-format-14 clang-tidy-14
  python3 python3-yaml shellcheck
  prometheus haproxy nginx etcd-server etcd-client curl openssl gnutls-bin iproute2 nftables
  spin chromium
  lintian man-db mandoc systemd zsh fish
)
# The examples' languages: one from elsewhere does, and is left alone.
command -v go >/dev/null || test_packages+=(golang-go)
command -v node >/dev/null || test_packages+=(nodejs)
readonly test_packages

# install_missing PACKAGE...
install_missing() {
  local missing=()
  for package in "$@"; do
    if ! dpkg-query --show --showformat='${Status}' "${package}" 2>/dev/null |
      grep --quiet '^install ok installed$'; then
      missing+=("${package}")
    fi
  done
  if [[ ${#missing[@]} -eq 0 ]]; then
    echo 'nothing is missing'
    return
  fi
  echo "missing: ${missing[*]}"
  local as_root=()
  if [[ $(id --user) -ne 0 ]]; then
    as_root=(sudo --non-interactive)
  fi
  as_root+=(env DEBIAN_FRONTEND=noninteractive)
  "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 update --quiet
  "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends \
    "${missing[@]}"
}
