#!/bin/sh
# Installs what Weft needs from the system where it is missing: `build` for compiler, Python and
# Rust, `bpf` for what compiles the eBPF programs, `emulation` for Mininet, Open vSwitch and what emulations and their tests
# run, `bench` for what the Linux switch is compared with, `test` for a browser. Debian and Ubuntu; elsewhere it says what
# to install.
set -eu

MINIMUM_RUST=1.89

apt_install() {
    if ! command -v apt-get >/dev/null; then
        echo "please install: $*" >&2
        exit 1
    fi
    sudo=""
    if [ "$(id -u)" != 0 ]; then
        sudo="sudo"
    fi
    echo "installing $* ..."
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

rust_is_new_enough() {
    command -v cargo >/dev/null || return 1
    have=$(cargo --version | cut -d' ' -f2)
    [ "$(printf '%s\n%s\n' "$MINIMUM_RUST" "$have" | sort -V | head -n1)" = "$MINIMUM_RUST" ]
}

install_rust() {
    echo "installing Rust (rustup, into ~/.cargo) ..."
    command -v curl >/dev/null || apt_install curl ca-certificates
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy
}

# Weft starts switches of its own: the service that comes along is not to run.
install_openvswitch() {
    command -v ovs-vswitchd >/dev/null || [ -x /usr/sbin/ovs-vswitchd ] || {
        apt_install openvswitch-switch
        ! command -v systemctl >/dev/null || systemctl disable --quiet --now openvswitch-switch 2>/dev/null || true
    }
}

case "${1:-build}" in
build)
    missing=""
    command -v cc >/dev/null || missing="$missing gcc libc6-dev"
    command -v python3 >/dev/null || missing="$missing python3"
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo "Python 3.11 or newer is needed, this is $(python3 --version)" >&2
        exit 1
    }
    rust_is_new_enough || install_rust
    ;;
bpf)
    missing=""
    command -v clang >/dev/null || missing="$missing clang"
    [ -e /usr/include/bpf/bpf_helpers.h ] || missing="$missing libbpf-dev"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    ;;
emulation)
    missing=""
    command -v mnexec >/dev/null || missing="$missing mininet"
    [ -x /usr/sbin/tc ] || [ -x /sbin/tc ] || missing="$missing iproute2"
    [ -x /usr/sbin/ethtool ] || [ -x /sbin/ethtool ] || missing="$missing ethtool"
    [ -x /usr/sbin/ifconfig ] || [ -x /sbin/ifconfig ] || missing="$missing net-tools"
    command -v iperf3 >/dev/null || missing="$missing iperf3"
    command -v ping >/dev/null || missing="$missing iputils-ping"
    command -v setpriv >/dev/null || missing="$missing util-linux"
    command -v mount >/dev/null || missing="$missing mount"
    command -v mptcpize >/dev/null || missing="$missing mptcpize"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    install_openvswitch
    ;;
bench)
    missing=""
    command -v ping >/dev/null || missing="$missing iputils-ping"
    command -v ethtool >/dev/null || missing="$missing ethtool"
    command -v tc >/dev/null || missing="$missing iproute2"
    command -v sysctl >/dev/null || missing="$missing procps"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    install_openvswitch
    ;;
test)
    command -v chromium >/dev/null || apt_install chromium
    ;;
*)
    echo "usage: $0 build|bpf|emulation|bench|test" >&2
    exit 2
    ;;
esac
