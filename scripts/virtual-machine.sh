#!/bin/sh
# Runs a command as root in a virtual machine with a Debian kernel, for tests that need more kernel than the machine has: its
# root is this machine's file system below a tmpfs, so the command finds all programs, and changes nothing.
#   sh scripts/virtual-machine.sh COMMAND [ARGUMENT...]
# KERNEL=DIR takes the kernel from an extracted package (boot/vmlinuz-*, lib/modules), else the newest one of Debian is
# downloaded into target/kernel. ACCEL=kvm uses the processor's virtualization; without it, everything is emulated and
# about ten times slower. SECONDS_LIMIT ends the machine (default 900). The exit status is the command's.
set -eu
cd "$(dirname "$0")/.."

fail() {
    echo "error: $1" >&2
    exit 1
}

[ $# -gt 0 ] || fail "a command is missing: sh scripts/virtual-machine.sh COMMAND"
[ "$(uname -m)" = x86_64 ] || fail "the virtual machine needs an x86-64 processor, this is $(uname -m)"
kernel=${KERNEL:-target/kernel}
if [ -z "${KERNEL:-}" ] && [ ! -d "$kernel/boot" ]; then
    package=$(apt-cache search --names-only '^linux-image-[0-9].*[0-9+a-z]-amd64$' | cut -d' ' -f1 |
        grep -v -e cloud -e rt-amd64 -e unsigned -e dbg | sort -V | tail -n1)
    [ -n "$package" ] || fail "apt knows no kernel of Debian; set KERNEL to a directory with boot/vmlinuz-* and lib/modules"
    echo "downloading $package ..."
    mkdir -p target/kernel
    (cd target/kernel && apt-get -qq download "$package" 2>/dev/null && dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb) ||
        fail "could not download $package: is the network reachable?"
fi
kernel=$(cd "$kernel" && pwd)
image=$(ls "$kernel"/boot/vmlinuz-* | head -n1)
version=${image##*/vmlinuz-}
modules="$kernel/lib/modules/$version"
[ -d "$modules" ] || fail "$kernel has no modules of $version"
PATH="$PATH:/sbin:/usr/sbin"
[ -e "$modules/modules.dep.bin" ] || depmod -b "$kernel" "$version" || fail "depmod cannot list the modules of $version"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/init/bin" "$scratch/init/modules" "$scratch/shared"
cp "$(command -v busybox)" "$scratch/init/bin/busybox"
for module in virtio_pci 9pnet_virtio 9p overlay; do
    modprobe -d "$kernel" -S "$version" --show-depends "$module" >>"$scratch/depends" ||
        fail "the kernel $version in $kernel cannot load the module $module"
done
awk '/^insmod/ && !seen[$2]++ { print $2 }' "$scratch/depends" >"$scratch/needed"
while read -r module; do
    name=$(basename "$module" .xz)
    case $module in
    *.xz) xz -dc "$module" >"$scratch/init/modules/$name" ;;
    *) cp "$module" "$scratch/init/modules/$name" ;;
    esac
    echo "$name" >>"$scratch/init/order"
done <"$scratch/needed"

# The command's words, quoted, in a directory that both machines see.
for word in "$@"; do
    printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")"
done >"$scratch/shared/command"
cat >"$scratch/init/init" <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
mkdir -p /proc /sys /dev /low /up /new
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t devtmpfs dev /dev
while read -r module; do
    insmod /modules/\$module || { echo "error: the kernel $version cannot load the module \$module"; poweroff -f; }
done </order
mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /low
mount -t tmpfs -o size=3g tmpfs /up && mkdir /up/upper /up/work
mount -t overlay -o lowerdir=/low,upperdir=/up/upper,workdir=/up/work overlay /new
mount -t proc proc /new/proc && mount -t sysfs sys /new/sys && mount --bind /dev /new/dev
mkdir -p /new/dev/pts /new/dev/shm /new/lib/modules /new/shared
mount -t devpts devpts /new/dev/pts && mount -t tmpfs tmpfs /new/dev/shm
mount -t tmpfs tmpfs /new/run && mount -t tmpfs tmpfs /new/tmp
mount -t bpf bpf /new/sys/fs/bpf && mount -t cgroup2 cgroup2 /new/sys/fs/cgroup
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 shared /new/shared
mkdir -p "/new$modules" "/new/lib/modules/$version" && mount --bind "/new$modules" "/new/lib/modules/$version"
ip link set lo up
chroot /new /bin/sh -c 'cd "$PWD" && PATH="$PATH:/sbin:/usr/sbin" && . /shared/command' >/dev/console 2>&1
echo \$? >/new/shared/status
poweroff -f
END
chmod +x "$scratch/init/init"
(cd "$scratch/init" && find . | busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$scratch/initrd"

# One emulated processor: with several, QEMU 7.2 sometimes misses that the kernel has changed its own code.
accel="-accel tcg -cpu max -smp 1"
[ "${ACCEL:-tcg}" != kvm ] || accel="-accel kvm -cpu host -smp 2"
share() {
    echo "-virtfs local,path=$1,mount_tag=$2,security_model=none,multidevs=remap$3"
}
# shellcheck disable=SC2046,SC2086 # options without spaces
timeout "${SECONDS_LIMIT:-900}" qemu-system-x86_64 $accel -m 5G -kernel "$image" -initrd "$scratch/initrd" \
    -append "console=ttyS0 loglevel=3 panic=-1 mitigations=off" -display none -serial stdio -no-reboot -nic none \
    $(share / root ,readonly=on) $(share "$scratch/shared" shared "") </dev/null | tr -d '\r'
[ -e "$scratch/shared/status" ] || fail "the virtual machine ended without the command's status, or took longer than SECONDS_LIMIT"
exit "$(cat "$scratch/shared/status")"
