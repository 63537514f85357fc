# Common parts of package scripts; sourced from the root of the repository, with `out` set to the target directory.
# shellcheck shell=sh

command -v dpkg-deb >/dev/null || {
    echo "error: dpkg-deb is missing; build packages on Debian or Ubuntu (apt-get install dpkg)" >&2
    exit 1
}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n1)
architecture=$(dpkg --print-architecture)
# Timestamps in the package are those of the sources, for a reproducible build.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH
# Debian's variables for the person who builds; without them, the package is for this machine.
maintainer="${DEBFULLNAME:-Weft authors} <${DEBEMAIL:-weft@localhost}>"
umask 022

mkdir -p "$out"
# A private directory, whatever else is in $out.
root=$(mktemp -d "$out/root.XXXXXX")
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
mkdir -p "$root/DEBIAN"

# Adds copyright and changelog: add_doc PACKAGE.
add_doc() {
    mkdir -p "$root/usr/share/doc/$1"
    install -m 644 packaging/debian/copyright "$root/usr/share/doc/$1/copyright"
    printf '%s (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md of the sources.\n\n -- %s  %s\n' \
        "$1" "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$root/usr/share/doc/$1/changelog.gz"
}

# Compresses manual pages, writes DEBIAN/control with the fields on standard input, and prints the package: build PACKAGE.
build() {
    find "$root/usr/share/man" -type f -exec gzip -9n {} +
    size=$(du -sk --exclude=DEBIAN "$root" | cut -f1)
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$1" "$version" "$architecture"
        printf 'Maintainer: %s\nInstalled-Size: %s\n' "$maintainer" "$size"
        cat
    } >"$root/DEBIAN/control"
    find "$root" -print0 | xargs -0 touch -h -d "@$SOURCE_DATE_EPOCH"
    package=$out/${1}_${version}_$architecture.deb
    dpkg-deb --root-owner-group -Zxz -z3 --build "$root" "$package" >/dev/null
    echo "$package"
}
