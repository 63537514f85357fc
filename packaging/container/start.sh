#!/bin/sh
# Starts the switch of a container: waits for the ports named in the configuration, since containerlab connects them
# after the start, gives them the MTU of the fabric and starts weft-switchd with the arguments.
set -eu

mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
ports=$(sed -n 's/^ports = \[\(.*\)\]$/\1/p' /etc/weft/switch.toml | tr -d '",')
for port in $ports; do
    until [ -e "/sys/class/net/$port" ]; do sleep 0.2; done
    # Its Path Requests are 20 bytes longer than the hosts' frames.
    ip link set dev "$port" mtu 1520 up
done
exec weft-switchd "$@"
