#!/bin/sh
# Starts the switch of a container with the arguments. containerlab connects the ports named in the configuration after
# the start: each gets the MTU of the fabric. The switch starts without a port that is missing for 10 s.
set -eu

mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
exists() { [ -e "/sys/class/net/$1" ]; }
# Its Path Requests are 20 bytes longer than the hosts' frames.
bring_up() { ip link set dev "$1" mtu 1520 up; }

ports=$(sed -n 's/^ports = \[\(.*\)\]$/\1/p' /etc/weft/switch.toml | tr -d '",')
looks=50
for port in $ports; do
    until exists "$port" || [ "$looks" -eq 0 ]; do
        looks=$((looks - 1))
        sleep 0.2
    done
    if exists "$port"; then
        bring_up "$port"
    else
        (until exists "$port"; do sleep 1; done; bring_up "$port") &
    fi
done
exec weft-switchd "$@"
