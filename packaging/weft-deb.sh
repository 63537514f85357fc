#!/bin/sh
# Builds the Debian package of `weft` from the wheel in target/wheels: packaging/weft-deb.sh [DIRECTORY], default
# target/debian.
#
# Debian's own NumPy, Polars and aiohttp are too old or missing, so the package brings all dependencies with it, in
# /usr/lib/weft, out of the way of other programs. Compiled ones are for one version of Python, which it depends on.
set -eu

cd "$(dirname "$0")/.."
out=${1:-target/debian}
. packaging/common.sh

wheel=$(ls "${CARGO_TARGET_DIR:-target}"/wheels/weft-"$version"-*.whl) || {
    echo "error: no wheel in target/wheels: run \`make wheel\` first" >&2
    exit 1
}
python=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
next=$(/usr/bin/python3 -c 'import sys; print("%d.%d" % (sys.version_info[0], sys.version_info[1] + 1))')
lib=$root/usr/lib/weft
"${PYTHON:-.venv/bin/python}" -m pip install --quiet --no-compile --target "$lib" --python-version "$python" \
    --only-binary :all: "$wheel[controller,query,cluster]"

mkdir -p "$root/usr/bin" "$root/etc/default" "$root/usr/lib/systemd/system" "$root/usr/share/weft"
# The switch has a package of its own; scripts of dependencies are not for users.
install -m 755 "$lib/bin/weft-loadgen" "$lib/bin/weft-pktgen" "$root/usr/bin/"
rm -r "$lib/bin" "$lib/share"
# Tests of dependencies: a fifth of the size.
find "$lib" -type d -name tests -path '*/numpy/*' -prune -exec rm -r {} +
find "$lib" -type d -name tests -path '*/scipy/*' -prune -exec rm -r {} +
cat >"$root/usr/bin/weft" <<'LAUNCHER'
#!/bin/sh
# The path is also for the processes that `weft emulate` starts; with -P, no file of the current directory is a module.
PYTHONPATH=/usr/lib/weft exec /usr/bin/python3 -P -s -m weft "$@"
LAUNCHER
chmod 755 "$root/usr/bin/weft"
launcher=$root/DEBIAN/weft
printf '#!/bin/sh\nPYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s exec /usr/bin/python3 -P -s -m weft "$@"\n' "$(realpath "$lib")" \
    >"$launcher"
chmod 755 "$launcher"
sh packaging/pages.sh "$root/usr/share" "$launcher" "$root/usr/bin/weft-loadgen" "$root/usr/bin/weft-pktgen"
rm "$launcher"
ln -s ../../lib/weft/weft/scenarios "$root/usr/share/weft/scenarios"

for unit in weft-controller weft-tag-forward; do
    install -m 644 "packaging/$unit.service" "$root/usr/lib/systemd/system/"
    install -m 644 "packaging/$unit.default" "$root/etc/default/$unit"
    echo "/etc/default/$unit" >>"$root/DEBIAN/conffiles"
done
for script in postinst prerm postrm; do
    install -m 755 "packaging/debian/weft/$script" "$root/DEBIAN/"
done
add_doc weft
build weft <<CONTROL
Depends: python3 (>= $python), python3 (<< $next), libc6 (>= 2.28), libgcc-s1, libstdc++6
Recommends: weft-switchd, systemd
Suggests: mininet, iproute2, ethtool, net-tools, openvswitch-switch, iperf3, mptcpize
Section: science
Priority: optional
Description: packet-level simulator and controllers for multipath Ethernet
 Compares path-selection schemes (ECMP, packet spraying, TCP-Path ...) in
 simulated data-centre networks, emulates them with Linux's TCP, and controls
 OpenFlow switches and Tag-and-Forward fat-trees.
CONTROL
