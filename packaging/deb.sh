#!/bin/sh
# Builds the Debian package of weft-switchd and weftctl: packaging/deb.sh [DIRECTORY], default target/debian.
set -eu

cd "$(dirname "$0")/.."
out=${1:-target/debian}
command -v dpkg-deb >/dev/null || {
    echo "error: dpkg-deb is missing; build packages on Debian or Ubuntu (apt-get install dpkg)" >&2
    exit 1
}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n1)
architecture=$(dpkg --print-architecture)
# Timestamps in the package are those of the sources, for a reproducible build.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
umask 022

cargo build --quiet --release -p weft-switchd --bins
target=${CARGO_TARGET_DIR:-target}/release

mkdir -p "$out"
# A private directory, whatever else is in $out.
root=$(mktemp -d "$out/root.XXXXXX")
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
doc=$root/usr/share/doc/weft-switchd
man=$root/usr/share/man
mkdir -p "$root/DEBIAN" "$root/usr/sbin" "$root/usr/bin" "$root/etc/weft" "$root/usr/lib/systemd/system" \
    "$doc" "$man/man8"

install -s -m 755 "$target/weft-switchd" "$root/usr/sbin/"
install -s -m 755 "$target/weftctl" "$root/usr/bin/"
install -m 644 packaging/weft-switchd@.service "$root/usr/lib/systemd/system/"
install -m 644 packaging/switch.toml "$root/etc/weft/switch.toml.example"
install -m 644 docs/switchd.md "$doc/"
install -m 644 packaging/debian/copyright "$doc/copyright"
install -D -m 644 -t "$doc/examples" packaging/monitoring/*
printf 'weft-switchd (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- Weft authors <weft@localhost>  %s\n' \
    "$version" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"
"$target/weft-switchd" --man | gzip -9n >"$man/man8/weft-switchd.8.gz"
"$target/weftctl" man | gzip -9n >"$man/man8/weftctl.8.gz"

for script in postinst prerm postrm; do
    install -m 755 "packaging/debian/$script" "$root/DEBIAN/"
done
echo /etc/weft/switch.toml.example >"$root/DEBIAN/conffiles"
size=$(du -sk --exclude=DEBIAN "$root" | cut -f1)
cat >"$root/DEBIAN/control" <<EOF
Package: weft-switchd
Version: $version
Architecture: $architecture
Maintainer: Weft authors <weft@localhost>
Installed-Size: $size
Depends: libc6 (>= 2.34), libgcc-s1, adduser
Recommends: systemd, iproute2
Section: net
Priority: optional
Description: multipath Ethernet switch in eBPF
 Turns the interfaces of a Linux machine into the ports of a switch that finds
 paths by racing copies of frames through the fabric (ARP-Path, TCP-Path), or
 spreads flows over given routes (ECMP, packet spraying). Frames are forwarded
 in the kernel; killing or upgrading the daemon loses none.
EOF
find "$root" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
package=$out/weft-switchd_${version}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "$package"
