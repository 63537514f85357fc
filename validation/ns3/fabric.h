// The fabric from its CSV file: nodes, links, equal-cost next hops, the ECMP hash.
//
// Independent of ns-3 on purpose: this part must agree with Weft bit for bit (numbering of nodes, hosts and ports; the
// hash), so it is plain C++ that can be reviewed, and checked at compile time, without knowing a simulator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft
{

// ---- hash ------------------------------------------------------------------------------------------------------------

/// SplitMix64's finaliser without its increment.
constexpr uint64_t Mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// Hash of a TCP packet's five-tuple; `src` and `dst` are host indexes as the packet carries them, so the two
/// directions of a connection hash differently.
constexpr uint32_t FlowHash(uint32_t src, uint32_t dst, uint16_t sport, uint16_t dport)
{
    const uint64_t addresses = (uint64_t{src} << 32) | dst;
    const uint64_t ports = (uint64_t{sport} << 24) | (uint64_t{dport} << 8) | 6;
    return static_cast<uint32_t>(Mix64(Mix64(addresses) ^ ports) >> 32);
}

/// A per-switch key, so that two tiers do not make correlated choices.
constexpr uint64_t NodeKey(uint64_t seed, uint32_t node)
{
    return Mix64(seed ^ Mix64(uint64_t{node} + 1));
}

/// Which of `n` next hops (in port order) a flow takes at the switch with this key.
constexpr uint32_t EcmpIndex(uint32_t flowHash, uint64_t key, uint32_t n)
{
    return static_cast<uint32_t>(((Mix64(flowHash ^ key) >> 32) * n) >> 32);
}

// Test vectors for other implementations; also in README.md.
static_assert(FlowHash(0, 15, 10000, 80) == 0xd6fca983u, "flow hash");
static_assert(FlowHash(15, 0, 80, 10000) == 0x27536af5u, "flow hash of the reverse direction");
static_assert(NodeKey(1, 16) == 0xf8a9cea276b02ba5ULL, "node key");
static_assert(EcmpIndex(FlowHash(0, 15, 10000, 80), NodeKey(1, 16), 2) == 0, "choice");
static_assert(EcmpIndex(FlowHash(15, 0, 80, 10000), NodeKey(1, 16), 2) == 1, "choice of the reverse direction");

// ---- fabric ----------------------------------------------------------------------------------------------------------

struct Link
{
    uint32_t a;
    uint32_t b;
    uint64_t rateBps;
    uint64_t delayPs;
    uint32_t queuePackets;
};

struct Port
{
    uint32_t peer; ///< node at the other end
    uint32_t link; ///< index into Fabric::links
};

constexpr uint32_t NOT_A_HOST = UINT32_MAX;

struct Fabric
{
    std::vector<std::string> names;
    std::vector<uint32_t> hostOf; ///< host index of a node, or NOT_A_HOST
    std::vector<uint32_t> hosts;  ///< node index of a host
    std::vector<Link> links;
    std::vector<std::vector<Port>> ports; ///< per node, in the order of its link lines

    /// nextHops[node][host]: ports on shortest paths (by hops) to the host, ascending; hosts forward no transit packets.
    std::vector<std::vector<std::vector<uint32_t>>> nextHops;
};

inline std::vector<std::string> SplitCsv(const std::string& line)
{
    std::vector<std::string> fields;
    std::stringstream in(line);
    for (std::string field; std::getline(in, field, ',');)
    {
        fields.push_back(field);
    }
    return fields;
}

inline std::vector<std::vector<uint32_t>> DistancesToHosts(const Fabric& fabric)
{
    std::vector<std::vector<uint32_t>> distance(fabric.hosts.size());
    for (uint32_t host = 0; host < fabric.hosts.size(); ++host)
    {
        distance[host].assign(fabric.names.size(), UINT32_MAX);
        distance[host][fabric.hosts[host]] = 0;
        std::deque<uint32_t> frontier{fabric.hosts[host]};
        while (!frontier.empty())
        {
            const uint32_t node = frontier.front();
            frontier.pop_front();
            if (fabric.hostOf[node] != NOT_A_HOST && fabric.hostOf[node] != host)
            {
                continue; // reached, but hosts carry no transit
            }
            for (const Port& port : fabric.ports[node])
            {
                if (distance[host][port.peer] == UINT32_MAX)
                {
                    distance[host][port.peer] = distance[host][node] + 1;
                    frontier.push_back(port.peer);
                }
            }
        }
    }
    return distance;
}

inline void FindNextHops(Fabric& fabric)
{
    const auto distance = DistancesToHosts(fabric);
    fabric.nextHops.assign(fabric.names.size(), std::vector<std::vector<uint32_t>>(fabric.hosts.size()));
    for (uint32_t node = 0; node < fabric.names.size(); ++node)
    {
        for (uint32_t host = 0; host < fabric.hosts.size(); ++host)
        {
            for (uint32_t port = 0; port < fabric.ports[node].size(); ++port)
            {
                const uint32_t peer = fabric.ports[node][port].peer;
                const bool transit = fabric.hostOf[peer] == NOT_A_HOST || fabric.hostOf[peer] == host;
                if (transit && distance[host][node] != UINT32_MAX && distance[host][peer] + 1 == distance[host][node])
                {
                    fabric.nextHops[node][host].push_back(port);
                }
            }
        }
    }
}

/// Reads `node,<name>,host|switch` and `link,<a>,<b>,<rate_bps>,<delay_ps>,<queue_packets>` lines; throws with the
/// offending line.
inline Fabric ReadFabric(const std::string& path)
{
    std::ifstream in(path);
    if (!in)
    {
        throw std::runtime_error("cannot read fabric file " + path);
    }
    Fabric fabric;
    std::map<std::string, uint32_t> index;
    for (std::string line; std::getline(in, line);)
    {
        const auto f = SplitCsv(line);
        if (f.empty() || f[0].empty() || f[0][0] == '#')
        {
            continue;
        }
        if (f[0] == "node" && f.size() == 3 && (f[2] == "host" || f[2] == "switch"))
        {
            const auto node = static_cast<uint32_t>(fabric.names.size());
            index[f[1]] = node;
            fabric.names.push_back(f[1]);
            fabric.ports.emplace_back();
            fabric.hostOf.push_back(NOT_A_HOST);
            if (f[2] == "host")
            {
                fabric.hostOf.back() = static_cast<uint32_t>(fabric.hosts.size());
                fabric.hosts.push_back(node);
            }
        }
        else if (f[0] == "link" && f.size() == 6 && index.count(f[1]) && index.count(f[2]))
        {
            const Link link{index[f[1]], index[f[2]], std::stoull(f[3]), std::stoull(f[4]),
                            static_cast<uint32_t>(std::stoul(f[5]))};
            const auto number = static_cast<uint32_t>(fabric.links.size());
            fabric.links.push_back(link);
            fabric.ports[link.a].push_back({link.b, number});
            fabric.ports[link.b].push_back({link.a, number});
        }
        else
        {
            throw std::runtime_error(path + ": expected a node line, or a link line between known nodes: " + line);
        }
    }
    FindNextHops(fabric);
    return fabric;
}

} // namespace weft
