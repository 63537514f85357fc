// The flows: when each connects, and its result.
//
// Sockets are driven directly, without ns-3's applications: BulkSend writes in chunks and closes late, so the
// last segment and FIN would depend on its chunk size. Here the whole flow is written and closed right after connect(),
// which puts the FIN on the last segment.
#pragma once

#include "routing.h"

#include <memory>
#include <optional>
#include <set>
#include <tuple>

namespace weft
{

struct Flow
{
    uint64_t id;
    uint32_t src; ///< host index
    uint32_t dst; ///< host index
    uint32_t bytes;
    uint64_t startPs;
    uint16_t sport;
    uint16_t dport;

    uint32_t received = 0;
    std::optional<int64_t> endPs = std::nullopt;
    uint32_t retransmitted = 0; ///< retransmitted segments, SYN included
    uint32_t rtos = 0;          ///< expiries of the data retransmission timer
    uint32_t synsSent = 0;
    ns3::SequenceNumber32 sentUpTo{0};
};

inline std::vector<Flow> ReadFlows(const std::string& path, const Fabric& fabric)
{
    std::ifstream in(path);
    std::string line;
    if (!in || !std::getline(in, line) || line != "flow,src,dst,bytes,start_ps,sport,dport,class")
    {
        throw std::runtime_error(path + ": expected the header flow,src,dst,bytes,start_ps,sport,dport,class");
    }
    std::map<std::string, uint32_t> hostByName;
    for (uint32_t host = 0; host < fabric.hosts.size(); ++host)
    {
        hostByName[fabric.names[fabric.hosts[host]]] = host;
    }
    std::vector<Flow> flows;
    std::set<std::pair<uint32_t, uint16_t>> used;
    while (std::getline(in, line))
    {
        const auto f = SplitCsv(line);
        if (f.size() != 8 || !hostByName.count(f[1]) || !hostByName.count(f[2]))
        {
            throw std::runtime_error(path + ": expected a flow between two hosts of the fabric: " + line);
        }
        if (std::stoull(f[3]) > UINT32_MAX || std::stoull(f[5]) > UINT16_MAX || std::stoull(f[6]) > UINT16_MAX)
        {
            throw std::runtime_error(path + ": at most 4294967295 bytes, and ports up to 65535: " + line);
        }
        Flow flow{std::stoull(f[0]), hostByName[f[1]], hostByName[f[2]], static_cast<uint32_t>(std::stoul(f[3])),
                  std::stoull(f[4]), static_cast<uint16_t>(std::stoul(f[5])), static_cast<uint16_t>(std::stoul(f[6]))};
        if (flow.startPs % 1000 != 0)
        {
            throw std::runtime_error(path + ": ns-3's resolution is 1 ns, start_ps must be a multiple of 1000: " + line);
        }
        if (!used.insert({flow.src, flow.sport}).second)
        {
            throw std::runtime_error(path + ": source port already used by another flow of this host: " + line);
        }
        flows.push_back(flow);
    }
    return flows;
}

/// Runs flows on installed nodes; stops the simulator when the last byte of the last flow has been delivered.
class FlowRunner
{
  public:
    FlowRunner(std::vector<Flow>& flows, const ns3::NodeContainer& hosts)
        : m_flows(flows),
          m_hosts(hosts)
    {
        std::set<std::pair<uint32_t, uint16_t>> listening;
        for (uint32_t i = 0; i < m_flows.size(); ++i)
        {
            const Flow& flow = m_flows[i];
            m_byEnds[{flow.src, flow.sport, flow.dst, flow.dport}] = i;
            if (listening.insert({flow.dst, flow.dport}).second)
            {
                Listen(flow.dst, flow.dport);
            }
            ns3::Simulator::Schedule(ns3::NanoSeconds(flow.startPs / 1000), &FlowRunner::Start, this, i);
        }
    }

    uint32_t Finished() const
    {
        return m_finished;
    }

  private:
    static ns3::Ptr<ns3::Socket> NewSocket(ns3::Ptr<ns3::Node> node, uint16_t port)
    {
        auto socket = ns3::Socket::CreateSocket(node, ns3::TcpSocketFactory::GetTypeId());
        if (socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port)) != 0)
        {
            throw std::runtime_error("cannot bind port " + std::to_string(port));
        }
        return socket;
    }

    void Listen(uint32_t host, uint16_t port)
    {
        auto socket = NewSocket(m_hosts.Get(host), port);
        socket->SetAcceptCallback(ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
                                  ns3::MakeCallback(&FlowRunner::Accepted, this));
        socket->Listen();
        m_listeners.push_back(socket);
    }

    void Start(uint32_t i)
    {
        Flow& flow = m_flows[i];
        auto socket = NewSocket(m_hosts.Get(flow.src), flow.sport);
        socket->TraceConnectWithoutContext("Tx", ns3::MakeCallback(&FlowRunner::Sent, this).Bind(i));
        socket->TraceConnectWithoutContext("RTO", ns3::MakeCallback(&FlowRunner::RtoChanged, this).Bind(i));
        socket->Connect(ns3::InetSocketAddress(AddressOf(flow.dst), flow.dport));
        if (socket->Send(ns3::Create<ns3::Packet>(flow.bytes)) != static_cast<int>(flow.bytes))
        {
            throw std::runtime_error("flow " + std::to_string(flow.id) + " does not fit into the send buffer");
        }
        socket->Close(); // deferred by ns-3 until all data are sent
    }

    void Accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from)
    {
        const auto peer = ns3::InetSocketAddress::ConvertFrom(from);
        ns3::Address local;
        socket->GetSockName(local);
        const auto own = ns3::InetSocketAddress::ConvertFrom(local);
        const uint32_t i =
            m_byEnds.at({HostOf(peer.GetIpv4()), peer.GetPort(), HostOf(own.GetIpv4()), own.GetPort()});
        socket->SetRecvCallback(ns3::MakeCallback(&FlowRunner::Received, this).Bind(i));
        socket->SetCloseCallbacks(ns3::MakeCallback(&FlowRunner::PeerClosed, this),
                                  ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    }

    void Received(uint32_t i, ns3::Ptr<ns3::Socket> socket)
    {
        Flow& flow = m_flows[i];
        while (auto packet = socket->Recv())
        {
            if (packet->GetSize() == 0)
            {
                break;
            }
            flow.received += packet->GetSize();
        }
        if (flow.received == flow.bytes && !flow.endPs)
        {
            flow.endPs = ns3::Simulator::Now().GetNanoSeconds() * 1000;
            if (++m_finished == m_flows.size())
            {
                ns3::Simulator::Stop();
            }
        }
    }

    void PeerClosed(ns3::Ptr<ns3::Socket> socket)
    {
        socket->Close();
    }

    void Sent(uint32_t i,
              ns3::Ptr<const ns3::Packet> packet,
              const ns3::TcpHeader& header,
              ns3::Ptr<const ns3::TcpSocketBase>)
    {
        Flow& flow = m_flows[i];
        if (header.GetFlags() & ns3::TcpHeader::SYN)
        {
            flow.retransmitted += flow.synsSent++ > 0;
        }
        else if (packet->GetSize() > 0)
        {
            const auto end = header.GetSequenceNumber() + packet->GetSize();
            if (end <= flow.sentUpTo)
            {
                ++flow.retransmitted;
            }
            flow.sentUpTo = std::max(flow.sentUpTo, end);
        }
    }

    /// Only the expiry handler doubles the RTO exactly (or caps it at 60 s).
    void RtoChanged(uint32_t i, ns3::Time before, ns3::Time after)
    {
        if (before.IsStrictlyPositive() && (after == before + before || after == ns3::Seconds(60)))
        {
            ++m_flows[i].rtos;
        }
    }

    std::vector<Flow>& m_flows;
    const ns3::NodeContainer m_hosts;
    std::map<std::tuple<uint32_t, uint16_t, uint32_t, uint16_t>, uint32_t> m_byEnds;
    std::vector<ns3::Ptr<ns3::Socket>> m_listeners;
    uint32_t m_finished = 0;
};

} // namespace weft
