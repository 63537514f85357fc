// Forwarding inside ns-3: one object per node, using the next hops computed in fabric.h.
//
// None of ns-3's own routing protocols sprays per packet or hashes like Weft, and the comparison needs identical
// choices. Routes are created once and returned by pointer, so that routing adds little to the measured CPU time.
#pragma once

#include "fabric.h"

#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <random>

namespace weft
{

enum class Scheme
{
    SinglePath, ///< the next hop with the lowest node index
    Ecmp,       ///< per flow, by hash
    Spray,      ///< per packet, uniformly at random
};

inline Scheme ParseScheme(const std::string& name)
{
    if (name == "single_path")
    {
        return Scheme::SinglePath;
    }
    if (name == "ecmp")
    {
        return Scheme::Ecmp;
    }
    if (name == "spray")
    {
        return Scheme::Spray;
    }
    throw std::runtime_error("--scheme=" + name + ": expected single_path, ecmp or spray");
}

constexpr uint32_t FIRST_ADDRESS = (10u << 24) + 1; // 10.0.0.1 is host 0

inline ns3::Ipv4Address AddressOf(uint32_t host)
{
    return ns3::Ipv4Address(FIRST_ADDRESS + host);
}

inline uint32_t HostOf(ns3::Ipv4Address address)
{
    return address.Get() - FIRST_ADDRESS;
}

class FabricRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    static ns3::TypeId GetTypeId()
    {
        static ns3::TypeId tid = ns3::TypeId("weft::FabricRouting").SetParent<ns3::Ipv4RoutingProtocol>();
        return tid;
    }

    FabricRouting(const Fabric& fabric, uint32_t node, Scheme scheme, uint64_t seed, std::mt19937_64& random)
        : m_fabric(fabric),
          m_node(node),
          m_scheme(scheme),
          m_key(NodeKey(seed, node)),
          m_random(random)
    {
    }

    /// Registers the next port's device; call in port order, after its interface is up.
    void AddPort(ns3::Ptr<ns3::NetDevice> device)
    {
        auto route = ns3::Create<ns3::Ipv4Route>();
        route->SetGateway(ns3::Ipv4Address::GetAny()); // point-to-point: no next-hop address to resolve
        route->SetOutputDevice(device);
        if (m_fabric.hostOf[m_node] != NOT_A_HOST)
        {
            route->SetSource(AddressOf(m_fabric.hostOf[m_node]));
        }
        m_routes.push_back(route);
    }

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet>,
                                         const ns3::Ipv4Header&,
                                         ns3::Ptr<ns3::NetDevice>,
                                         ns3::Socket::SocketErrno& error) override
    {
        error = ns3::Socket::ERROR_NOTERROR;
        return m_routes.at(0); // a host has one link, see InstallStacks
    }

    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device,
                    UnicastForwardCallback forward,
                    MulticastForwardCallback,
                    LocalDeliverCallback deliver,
                    ErrorCallback) override
    {
        const uint32_t host = HostOf(header.GetDestination());
        if (m_fabric.hostOf[m_node] == host)
        {
            deliver(packet, header, m_ipv4->GetInterfaceForDevice(device));
            return true;
        }
        const auto& ports = m_fabric.nextHops[m_node].at(host);
        if (ports.empty() || m_fabric.hostOf[m_node] != NOT_A_HOST)
        {
            return false; // counted by Ipv4L3Protocol's Drop trace
        }
        forward(m_routes[Choose(ports, packet, header)], packet, header);
        return true;
    }

    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    // The fabric does not change during a run.
    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override
    {
    }

    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override
    {
    }

  private:
    uint32_t Choose(const std::vector<uint32_t>& ports,
                    ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header)
    {
        const auto n = static_cast<uint32_t>(ports.size());
        if (n == 1)
        {
            return ports[0];
        }
        switch (m_scheme)
        {
        case Scheme::SinglePath:
            return *std::min_element(ports.begin(), ports.end(), [this](uint32_t a, uint32_t b) {
                return m_fabric.ports[m_node][a].peer < m_fabric.ports[m_node][b].peer;
            });
        case Scheme::Spray:
            return ports[((m_random() >> 32) * n) >> 32];
        case Scheme::Ecmp:
            break;
        }
        uint8_t tcp[4]; // the packet starts with the TCP header: both ports, in network order
        packet->CopyData(tcp, sizeof tcp);
        const uint32_t hash = FlowHash(HostOf(header.GetSource()),
                                       HostOf(header.GetDestination()),
                                       static_cast<uint16_t>(tcp[0] << 8 | tcp[1]),
                                       static_cast<uint16_t>(tcp[2] << 8 | tcp[3]));
        return ports[EcmpIndex(hash, m_key, n)];
    }

    const Fabric& m_fabric;
    const uint32_t m_node;
    const Scheme m_scheme;
    const uint64_t m_key;
    std::mt19937_64& m_random; ///< one stream for all switches: deterministic, as the order of events is fixed
    ns3::Ptr<ns3::Ipv4> m_ipv4;
    std::vector<ns3::Ptr<ns3::Ipv4Route>> m_routes;
};

} // namespace weft
