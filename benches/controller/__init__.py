"""How long paths take to set up: Open vSwitch and the kernel's Multipath TCP under `weft controller`, in a jail."""
