/* SPDX-License-Identifier: Apache-2.0 OR MIT OR GPL-2.0-only
 *
 * Parses the fields that a switch uses, by the rules of docs/wire-format.md and like crates/wire. A frame with
 * an invalid header belongs to no flow and no known protocol: it is of kind OTHER, and forwarded by its
 * addresses.
 */
#pragma once

#include "packet.h"
#include "ports.h"
#include "reasons.h"

#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_SERVICE_VLAN 0x88a8
#define BROADCAST 0xffffffffffffULL
#define ADDRESSES_LEN 12
#define TAG_LEN 4
#define MAX_TAGS 2

/* With the numbers of `Kind` in crates/switching. */
enum kind {
	TCP,
	OTHER,
	ARP_REQUEST,
	ARP_REPLY,
	HELLO,
	PATH_REQUEST,
	PATH_REPLY,
	PATH_FAIL,
	RECOVERY_REQUEST,
	RECOVERY_REPLY,
	UNKNOWN_DESTINATION = 16, /* only for floods: a frame to one unknown station */
	LOCATION = 17, /* only for floods: the Path Requests of a station with one id */
};

enum path_type { REQUEST = 1, REPLY, FAIL, FLOW_REQUEST, FLOW_REPLY };

struct path_header {
	__u8 version, type, hops, flags;
	__be32 id;
	__u8 destination[6];
	__be16 sport, dport, original;
} __attribute__((packed));

/* A frame, its ingress port and time. Addresses are 48-bit numbers. */
struct frame {
	__u64 now;
	__u64 dst; /* for a Path frame, the one in its header */
	__u64 src; /* without the mark */
	__u32 port;
	__u32 id;
	__u32 payload;      /* of a segment, in bytes */
	__u16 sport, dport; /* of the flow; both 0 if there is none */
	__u16 at;           /* offset of the EtherType, after the VLAN tags */
	__u16 ethertype;
	__u8 kind;
	__u8 hops;
	__u8 tcp_flags;
	__u8 traffic_class; /* DSCP and ECN */
	__u8 malformed;     /* why a Path frame is invalid, or NO_REASON */
	bool marked;        /* flooded by a switch because its destination was unknown */
	__u8 tells;         /* number of own frames to send after it */
};

/* The current frame; nested calls leave no room for it on the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct frame);
} weft_frames SEC(".maps");

static __always_inline __u64 address(const __u8 *b)
{
	return (__u64)b[0] << 40 | (__u64)b[1] << 32 | (__u64)b[2] << 24 | (__u64)b[3] << 16 |
	       (__u64)b[4] << 8 | b[5];
}

static __always_inline bool is_group(__u64 address)
{
	return address >> 40 & 1;
}

/* The group bit of the source address, which no host's address has, marks frames that switches flood because the
 * destination is unknown. */
static __always_inline __u64 unmarked(__u64 address)
{
	return address & ~(1ULL << 40);
}

/* Whether the address is link-local: never forwarded by bridges (IEEE 802.1Q, 8.6.3). */
static __always_inline bool is_link_local(__u64 address)
{
	return (address & ~0xfULL) == 0x0180c2000000ULL;
}

/* Whether only switches send such frames, to each other. */
static __always_inline bool is_control(const struct frame *f)
{
	return f->kind >= HELLO;
}

static __always_inline bool is_about_flow(const struct frame *f)
{
	return f->sport || f->dport;
}

/* ARP for IPv4 over Ethernet; anything else is OTHER. */
static __always_inline __u8 read_arp(struct __sk_buff *skb, __u32 at)
{
	struct {
		__be16 hardware, protocol;
		__u8 lengths[2];
		__be16 operation;
		__u8 addresses[20];
	} arp;

	if (bpf_skb_load_bytes(skb, at, &arp, sizeof(arp)) || arp.hardware != bpf_htons(1) ||
	    arp.protocol != bpf_htons(0x0800) || arp.lengths[0] != 6 || arp.lengths[1] != 4)
		return OTHER;
	if (arp.operation == bpf_htons(1))
		return ARP_REQUEST;
	return arp.operation == bpf_htons(2) ? ARP_REPLY : OTHER;
}

/* Neighbour discovery (RFC 4861, section 7.1), the IPv6 counterpart of ARP. */
static __always_inline __u8 read_neighbour(struct __sk_buff *skb, __u32 at)
{
	struct packet p = {};
	__u8 message[24];

	if (!read_ipv6(skb, at, &p) || p.protocol != 58 || p.fragment || p.hop_limit != 255 ||
	    p.at + sizeof(message) > p.end || bpf_skb_load_bytes(skb, p.at, message, sizeof(message)) ||
	    message[1])
		return OTHER;
	return message[0] == 135 ? ARP_REQUEST : message[0] == 136 ? ARP_REPLY : OTHER;
}

/* With both TCP ports 0 it is about two stations; these have types 3 to 5. */
static __always_inline __u8 path_kind(__u8 type, bool about_flow)
{
	switch (type) {
	case REQUEST:
		return PATH_REQUEST;
	case REPLY:
		return PATH_REPLY;
	case FAIL:
		return PATH_FAIL;
	case FLOW_REQUEST:
		return about_flow ? RECOVERY_REQUEST : PATH_REQUEST;
	default:
		return about_flow ? RECOVERY_REPLY : PATH_REPLY;
	}
}

static __always_inline void read_path(struct __sk_buff *skb, struct frame *f)
{
	struct path_header path;

	f->kind = PATH_FAIL; /* placeholder while malformed: any kind that only switches send */
	f->malformed = SHORT;
	if (bpf_skb_load_bytes(skb, f->at + 2, &path, sizeof(path)))
		return;
	f->malformed = VERSION;
	if (path.version != 1)
		return;
	f->sport = bpf_ntohs(path.sport);
	f->dport = bpf_ntohs(path.dport);
	f->malformed = TYPE;
	if (path.type < REQUEST || path.type > FLOW_REPLY || (path.type <= REPLY && !is_about_flow(f)))
		return;
	f->malformed = NO_REASON;
	f->kind = path_kind(path.type, is_about_flow(f));
	f->hops = path.hops;
	f->id = bpf_ntohl(path.id);
	f->dst = address(path.destination);
}

/* Reads the Ethernet header and VLAN tags; false if there is no header. If the frame ends within its tags, the
 * EtherType is 0. */
static __always_inline bool read_ethernet(struct __sk_buff *skb, struct frame *f)
{
	/* The kernel has removed the outer tag from the bytes. */
	int tags = skb->vlan_present ? 1 : 0;
	struct {
		__u8 dst[6], src[6];
		__be16 type;
	} ethernet ALIGNED;
	__be16 type ALIGNED;

	f->kind = OTHER;
	f->malformed = NO_REASON;
	f->at = ADDRESSES_LEN;
	if (!load(skb, 0, &ethernet, sizeof(ethernet)))
		return false;
	f->dst = address(ethernet.dst);
	f->src = address(ethernet.src);
	type = ethernet.type;
	for (; tags < MAX_TAGS; tags++) {
		f->ethertype = bpf_ntohs(type);
		if (f->ethertype != ETHERTYPE_VLAN && f->ethertype != ETHERTYPE_SERVICE_VLAN)
			break;
		f->at += TAG_LEN;
		if (!load(skb, f->at, &type, sizeof(type))) {
			f->at = ADDRESSES_LEN;
			f->ethertype = 0;
			return true;
		}
	}
	f->ethertype = bpf_ntohs(type);
	return true;
}

/* Reads the frame; false if it has no Ethernet header. */
static __noinline bool read_frame(struct __sk_buff *skb, struct frame *f)
{
	if (!read_ethernet(skb, f))
		return false;
	f->marked = is_group(f->src);
	f->src = unmarked(f->src);
	if (f->ethertype == settings.hello_type)
		f->kind = HELLO;
	else if (f->ethertype == settings.path_type)
		read_path(skb, f);
	else if (f->ethertype == ETHERTYPE_ARP)
		f->kind = read_arp(skb, f->at + 2);
	else if (f->ethertype == ETHERTYPE_IPV6)
		f->kind = read_neighbour(skb, f->at + 2);
	return true;
}
