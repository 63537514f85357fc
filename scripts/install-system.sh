#!/bin/sh
# Installs missing system packages: `build` for compiler, Python and Rust, `bpf` for the eBPF compiler, `emulation` for
# Mininet, Open vSwitch and the tools of emulations and their tests, `bench` for benchmarks of the Linux switch, `oracles`
# for reference tools of tests (tshark, systemd-analyze, promtool), `install` for tools that make a bare Debian, `kernel` for
# a virtual machine, `test` for a browser, groff and FRR.
# Debian and Ubuntu; on other systems it lists the packages to install.
set -eu

MINIMUM_RUST=1.89

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "error: $1" >&2
    exit 1
}

# Runs apt-get as root. If another apt-get holds the lock, waits up to ten minutes.
apt_get() {
    for try in $(seq 120); do
        status=0
        # shellcheck disable=SC2086 # empty for root
        $sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" >/dev/null 2>"$scratch/messages" || status=$?
        if [ "$status" = 0 ] || ! grep -q "Could not get lock" "$scratch/messages"; then
            break
        fi
        [ "$try" != 1 ] || sed -n 's/^E: \(Could not get lock\)/waiting: \1/p' "$scratch/messages" >&2
        sleep 5
    done
    cat "$scratch/messages" >&2
    return "$status"
}

# Finds out how to become root, or fails with the command for these packages.
as_root() {
    if ! command -v apt-get >/dev/null; then
        fail "these packages are missing, and there is no apt-get to install them: $*"
    fi
    by_root="apt-get update && apt-get install --no-install-recommends $*"
    sudo=""
    if [ "$(id -u)" != 0 ]; then
        sudo="sudo"
        command -v sudo >/dev/null || fail "these packages are missing: $*
sudo is not installed. Run this as root, then repeat the command:
  $by_root"
    fi
}

apt_install() {
    as_root "$@"
    echo "installing $* ..."
    # Old package lists may suffice; if not, the installation fails.
    apt_get update || true
    apt_get install -y --no-install-recommends "$@" || fail "apt-get could not install: $*
Is the network reachable? To install them as root:
  $by_root"
}

rust_is_new_enough() {
    command -v cargo >/dev/null || return 1
    have=$(cargo --version | cut -d' ' -f2)
    [ "$(printf '%s\n%s\n' "$MINIMUM_RUST" "$have" | sort -V | head -n1)" = "$MINIMUM_RUST" ]
}

install_rust() {
    echo "installing Rust (rustup, into ~/.cargo) ..."
    # Downloaded first: `curl | sh` would ignore a failure of curl.
    curl --proto '=https' --tlsv1.2 -sSf -o "$scratch/rustup" https://sh.rustup.rs ||
        fail "could not download rustup from https://sh.rustup.rs: is the network reachable?"
    sh "$scratch/rustup" -y --profile minimal -c rustfmt -c clippy || fail "rustup could not install Rust"
    PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    rust_is_new_enough || fail "Rust $MINIMUM_RUST or newer is required, found $(cargo --version)"
}

# Weft starts its own switches, so the packaged service is disabled.
install_openvswitch() {
    command -v ovs-vswitchd >/dev/null || [ -x /usr/sbin/ovs-vswitchd ] || {
        apt_install openvswitch-switch
        ! command -v systemctl >/dev/null || $sudo systemctl disable --quiet --now openvswitch-switch 2>/dev/null || true
    }
}

# The tests start FRR's daemons themselves, in namespaces, so the packaged service is disabled.
install_frr() {
    command -v vtysh >/dev/null || {
        apt_install frr
        ! command -v systemctl >/dev/null || $sudo systemctl disable --quiet --now frr 2>/dev/null || true
    }
}

# Only Prometheus's two programs: its package would start a server, and pull in eleven packages for web pages.
install_prometheus() {
    ! command -v promtool >/dev/null || ! command -v prometheus >/dev/null || return 0
    as_root prometheus
    apt_get update || true
    echo "installing promtool and prometheus into /usr/local/bin ..."
    (
        cd "$scratch" && apt_get download prometheus && dpkg-deb -x prometheus_*.deb prometheus &&
            $sudo install -m 755 prometheus/usr/bin/promtool prometheus/usr/bin/prometheus /usr/local/bin
    ) || fail "could not extract the package prometheus. To install it whole, as root:
  apt-get install --no-install-recommends prometheus && systemctl disable --now prometheus"
}

case "${1:-build}" in
build)
    missing=""
    command -v cc >/dev/null || missing="$missing gcc libc6-dev"
    command -v python3 >/dev/null || missing="$missing python3"
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
    # curl is for installing Rust; in the same apt-get call, so that sudo asks once.
    rust_is_new_enough || command -v curl >/dev/null || missing="$missing curl ca-certificates"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "Python 3.11 or newer is required, found $(python3 --version)"
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
oracles)
    missing=""
    command -v tshark >/dev/null || missing="$missing tshark"
    command -v systemd-analyze >/dev/null || missing="$missing systemd"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    install_prometheus
    ;;
install)
    missing=""
    command -v mmdebstrap >/dev/null || missing="$missing mmdebstrap"
    command -v systemd-nspawn >/dev/null || missing="$missing systemd-container"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    ;;
kernel)
    missing=""
    command -v qemu-system-x86_64 >/dev/null || missing="$missing qemu-system-x86"
    command -v busybox >/dev/null || missing="$missing busybox-static"
    [ -x /sbin/modprobe ] || [ -x /usr/sbin/modprobe ] || missing="$missing kmod"
    command -v xz >/dev/null || missing="$missing xz-utils"
    # shellcheck disable=SC2086 # a list of package names
    [ -z "$missing" ] || apt_install $missing
    ;;
test)
    command -v groff >/dev/null || apt_install groff-base
    install_frr
    # Debian has a headless Chromium, which renders at half the cost; elsewhere there is only the full browser.
    browser=chromium
    ! apt-cache show chromium-headless-shell >/dev/null 2>&1 || browser=chromium-headless-shell
    command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null ||
        command -v chromium-browser >/dev/null || apt_install $browser
    ;;
*)
    echo "usage: $0 build|bpf|emulation|bench|oracles|install|kernel|test" >&2
    exit 2
    ;;
esac
