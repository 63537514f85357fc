/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * A routing daemon beside the switch (FRR): its messages with the neighbours on fabric ports are passed to the machine
 * (crates/switching/src/routing_message.rs). Maps are written by the daemon, from Hello messages.
 */
#pragma once

#include "limits.h"
#include "packet.h"

enum message { BFD, ROUTING, MESSAGES };

/* The machine at the other end of a port's link. */
struct peer {
	__u64 address;           /* 0: none */
	__u64 full_at[MESSAGES]; /* when its token buckets will be full again */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u32);
	__type(value, struct peer);
} weft_peers SEC(".maps");

/* The ports with a peer, by the address of their interface. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PORTS);
	__type(key, __u64);
	__type(value, __u32);
} weft_own_macs SEC(".maps");

/* Per port, 1000 BFD packets a second, and as many as 5000 others; so many may come at once. BGP fills no bucket of BFD. */
#define BFD_GAP 1000000ULL
#define ROUTING_GAP 200000ULL
#define BUCKET 1000000000ULL

#define BGP_PORT 179
#define BFD_PORT 3784
#define ROUTER_SOLICITATION 133
#define NEIGHBOUR_ADVERTISEMENT 136

static __always_inline bool is_link_local_ip(const __be32 *ip)
{
	return (ip[0] & bpf_htonl(0xffc00000)) == bpf_htonl(0xfe800000);
}

/* The source of a station that has no address yet (RFC 4862). */
static __always_inline bool is_unspecified_ip(const __be32 *ip)
{
	return !(ip[0] | ip[1] | ip[2] | ip[3]);
}

/* The message in a frame, all within one link: neighbour discovery, BGP or BFD over link-local addresses; MESSAGES if there
 * is none. */
static __noinline int message_in(struct __sk_buff *skb, const struct frame *f)
{
	struct ipv6_header ip ALIGNED;
	struct {
		__u8 type, code;
		__be16 checksum;
	} icmp ALIGNED;
	struct {
		__be16 source, destination;
	} ports ALIGNED;
	__u32 at = f->at + 2, end = skb->len, len;
	bool multicast, local;

	/* Without VLAN tags and extension headers. */
	if (f->ethertype != ETHERTYPE_IPV6 || f->at != ADDRESSES_LEN || skb->vlan_present ||
	    !load(skb, at, &ip, sizeof(ip)) || ip.version >> 4 != 6)
		return MESSAGES;
	at += sizeof(ip);
	len = bpf_ntohs(ip.length);
	if (len && at + len < end)
		end = at + len;
	if (at + sizeof(ports) > end)
		return MESSAGES;
	local = is_link_local_ip(ip.destination);
	/* ff02::/16 */
	multicast = (ip.destination[0] & bpf_htonl(0xffff0000)) == bpf_htonl(0xff020000);
	if (ip.next == 58) {
		if (!load(skb, at, &icmp, sizeof(icmp)) || ip.hop_limit != 255 ||
		    icmp.type < ROUTER_SOLICITATION || icmp.type > NEIGHBOUR_ADVERTISEMENT)
			return MESSAGES;
		if (!is_link_local_ip(ip.source) && !is_unspecified_ip(ip.source))
			return MESSAGES;
		return local || multicast ? ROUTING : MESSAGES;
	}
	if (!local || !is_link_local_ip(ip.source) || !load(skb, at, &ports, sizeof(ports)))
		return MESSAGES;
	if (ip.next == 6)
		return ports.source == bpf_htons(BGP_PORT) || ports.destination == bpf_htons(BGP_PORT) ?
			       ROUTING :
			       MESSAGES;
	return ip.next == 17 && ip.hop_limit == 255 && ports.destination == bpf_htons(BFD_PORT) ? BFD : MESSAGES;
}

enum verdict { FORWARDS, IS_PASSED, IS_CONSUMED, IS_REFUSED, IS_LIMITED };

/* What becomes of a frame from or for a machine at either end of a fabric link; FORWARDS for frames of stations. Such frames
 * are never forwarded, and a switch refuses its own addresses as source: hence a frame with the address of the peer
 * comes from the peer, whatever hosts send. A global function: verified once, separately. */
__noinline int route_message(struct __sk_buff *skb, const struct frame *f)
{
	__u64 src, dst;
	struct peer *peer;
	bool from_peer;
	__u32 *own, port;
	int message;

	if (!f)
		return FORWARDS;
	src = f->src;
	dst = f->dst;
	port = f->port;
	if (bpf_map_lookup_elem(&weft_own_macs, &src))
		return IS_REFUSED;
	own = bpf_map_lookup_elem(&weft_own_macs, &dst);
	peer = bpf_map_lookup_elem(&weft_peers, &port);
	from_peer = peer && peer->address && peer->address == src;
	if (!own && !from_peer)
		return FORWARDS;
	if (!from_peer || f->marked || !is_fabric(port, f->now) || !(own ? *own == port : is_group(dst)))
		return IS_REFUSED;
	/* IPv6 groups: 33:33:... */
	message = own || dst >> 32 == 0x3333 ? message_in(skb, f) : MESSAGES;
	if (message == BFD)
		return take(&peer->full_at[BFD], BFD_GAP, BUCKET, f->now) ? IS_PASSED : IS_LIMITED;
	if (message == ROUTING)
		return take(&peer->full_at[ROUTING], ROUTING_GAP, BUCKET, f->now) ? IS_PASSED : IS_LIMITED;
	/* Multicasts that its kernel sends by itself, such as MLD. */
	return own ? IS_REFUSED : IS_CONSUMED;
}
