#!/bin/sh
# Builds the Debian package of weft-switchd and weftctl: packaging/deb.sh [DIRECTORY], default target/debian.
set -eu

cd "$(dirname "$0")/.."
out=${1:-target/debian}
. packaging/common.sh

cargo build --quiet --release -p weft-switchd --bins
target=${CARGO_TARGET_DIR:-target}/release

mkdir -p "$root/usr/sbin" "$root/usr/bin" "$root/etc/weft" "$root/usr/lib/systemd/system"
install -s -m 755 "$target/weft-switchd" "$root/usr/sbin/"
install -s -m 755 "$target/weftctl" "$root/usr/bin/"
install -m 644 packaging/weft-switchd@.service "$root/usr/lib/systemd/system/"
install -m 644 packaging/switch.toml "$root/etc/weft/switch.toml.example"
sh packaging/pages.sh "$root/usr/share" "$root/usr/sbin/weft-switchd" "$root/usr/bin/weftctl"
add_doc weft-switchd
install -m 644 docs/switchd.md "$root/usr/share/doc/weft-switchd/"
install -D -m 644 -t "$root/usr/share/doc/weft-switchd/examples" packaging/monitoring/*
for script in postinst prerm postrm; do
    install -m 755 "packaging/debian/$script" "$root/DEBIAN/"
done
echo /etc/weft/switch.toml.example >"$root/DEBIAN/conffiles"
build weft-switchd <<'CONTROL'
Depends: libc6 (>= 2.34), libgcc-s1, adduser
Recommends: systemd, iproute2
Section: net
Priority: optional
Description: multipath Ethernet switch in eBPF
 Turns the interfaces of a Linux machine into the ports of a switch that finds
 paths by racing copies of frames through the fabric (ARP-Path, TCP-Path), or
 spreads flows over given routes (ECMP, packet spraying). Frames are forwarded
 in the kernel; killing or upgrading the daemon loses none.
CONTROL
