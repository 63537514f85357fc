// Runs a fabric and a list of flows in ns-3 and writes each flow's result: the reference that Weft is compared with.
//
//   reference --fabric=F.csv --flows=F.csv --scheme=ecmp --tcp=cubic --seed=1 --out=OUT.csv
//
// Any ns-3 attribute can be set as well, e.g. --ns3::TcpSocketBase::MinRto=200ms. Formats: README.md.

#include "attributes.h"
#include "flows.h"

#include "ns3/core-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <sys/resource.h>

namespace
{

using namespace ns3;

struct Options
{
    std::string fabric;
    std::string flows;
    std::string scheme = "ecmp";
    std::string tcp = "newreno-sack";
    std::string out;
    std::string attributes;
    uint64_t seed = 1;
    uint32_t mss = 1448;
    uint32_t iw = 10;
    uint32_t rcvbuf = 16 << 20; // above the largest flow: a full receive window crashes ns-3.37, see README.md
    double stopSeconds = 1000;
};

Options ParseOptions(int argc, char** argv)
{
    Options o;
    CommandLine cmd;
    cmd.AddValue("fabric", "fabric CSV", o.fabric);
    cmd.AddValue("flows", "flows CSV", o.flows);
    cmd.AddValue("scheme", "single_path, ecmp or spray", o.scheme);
    cmd.AddValue("tcp", "newreno, newreno-sack or cubic", o.tcp);
    cmd.AddValue("out", "result CSV", o.out);
    cmd.AddValue("attributes", "write the attributes in force to this CSV", o.attributes);
    cmd.AddValue("seed", "seed of the ECMP keys and of spraying", o.seed);
    cmd.AddValue("mss", "TCP payload of a full segment, bytes", o.mss);
    cmd.AddValue("iw", "initial window, segments", o.iw);
    cmd.AddValue("rcvbuf", "receive buffer, bytes", o.rcvbuf);
    cmd.AddValue("stop", "stop at this simulated second", o.stopSeconds);
    cmd.Parse(argc, argv);
    return o;
}

void SetTcpDefaults(const Options& o, const std::vector<weft::Flow>& flows)
{
    if (o.tcp != "newreno" && o.tcp != "newreno-sack" && o.tcp != "cubic")
    {
        throw std::runtime_error("--tcp=" + o.tcp + ": expected newreno, newreno-sack or cubic");
    }
    uint32_t largest = 0;
    for (const auto& flow : flows)
    {
        largest = std::max(largest, flow.bytes);
    }
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(o.tcp == "cubic" ? TcpCubic::GetTypeId() : TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(o.tcp != "newreno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(o.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(o.iw));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(o.rcvbuf));
    // A flow is written in a single call, so it must fit; the send buffer does not limit the window.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(std::max<uint32_t>(largest, 131072)));
}

/// Devices in link order: [2 * link] at end a, [2 * link + 1] at end b.
std::vector<Ptr<PointToPointNetDevice>> ConnectDevices(const weft::Fabric& fabric,
                                                       const NodeContainer& nodes,
                                                       const Options& o)
{
    std::vector<Ptr<PointToPointNetDevice>> devices;
    for (const auto& link : fabric.links)
    {
        if (link.delayPs % 1000 != 0)
        {
            throw std::runtime_error("ns-3's resolution is 1 ns: link delays must be multiples of 1000 ps");
        }
        PointToPointHelper helper;
        // With flow control, the device signals a full queue to the layer above, which then drops packets itself, where
        // no queue counts them.
        helper.DisableFlowControl();
        helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link.rateBps)));
        helper.SetDeviceAttribute("Mtu", UintegerValue(std::max<uint32_t>(1500, o.mss + 52)));
        helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(link.delayPs / 1000)));
        helper.SetQueue("ns3::DropTailQueue<Packet>",
                        "MaxSize",
                        QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, link.queuePackets)));
        const NetDeviceContainer pair = helper.Install(nodes.Get(link.a), nodes.Get(link.b));
        devices.push_back(DynamicCast<PointToPointNetDevice>(pair.Get(0)));
        devices.push_back(DynamicCast<PointToPointNetDevice>(pair.Get(1)));
    }
    return devices;
}

/// Installs IP on every node without Ipv4AddressHelper, which would install a queue disc on every device.
void InstallStacks(const weft::Fabric& fabric,
                   const NodeContainer& nodes,
                   const std::vector<Ptr<PointToPointNetDevice>>& devices,
                   const Options& o,
                   std::mt19937_64& random)
{
    const weft::Scheme scheme = weft::ParseScheme(o.scheme);
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    for (uint32_t node = 0; node < fabric.names.size(); ++node)
    {
        const bool host = fabric.hostOf[node] != weft::NOT_A_HOST;
        if (host && fabric.ports[node].size() != 1)
        {
            throw std::runtime_error("host " + fabric.names[node] + " must have exactly one link");
        }
        auto ipv4 = nodes.Get(node)->GetObject<Ipv4>();
        auto routing = CreateObject<weft::FabricRouting>(fabric, node, scheme, o.seed, random);
        ipv4->SetRoutingProtocol(routing);
        for (const auto& port : fabric.ports[node])
        {
            const auto device = devices[2 * port.link + (fabric.links[port.link].a == node ? 0 : 1)];
            const uint32_t interface = ipv4->AddInterface(device);
            if (host)
            {
                ipv4->AddAddress(interface,
                                 Ipv4InterfaceAddress(weft::AddressOf(fabric.hostOf[node]), Ipv4Mask("255.0.0.0")));
            }
            ipv4->SetUp(interface);
            routing->AddPort(device);
            if (nodes.Get(node)->GetObject<TrafficControlLayer>()->GetRootQueueDiscOnDevice(device) ||
                device->GetObject<NetDeviceQueueInterface>())
            {
                throw std::logic_error("a device has a queue disc or flow control, which must be off");
            }
        }
    }
}

/// User time of this process, seconds.
double CpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6;
}

void WriteResults(const std::string& path, const std::vector<weft::Flow>& flows)
{
    std::ofstream out(path);
    out << "flow,fct_ps,end_ps,retransmitted,rtos\n";
    for (const auto& flow : flows)
    {
        out << flow.id << ',';
        if (flow.endPs)
        {
            out << *flow.endPs - static_cast<int64_t>(flow.startPs) << ',' << *flow.endPs;
        }
        else
        {
            out << ',';
        }
        out << ',' << flow.retransmitted << ',' << flow.rtos << '\n';
    }
    if (!out.flush())
    {
        throw std::runtime_error("cannot write " + path);
    }
}

void Run(const Options& o)
{
    const weft::Fabric fabric = weft::ReadFabric(o.fabric);
    std::vector<weft::Flow> flows = weft::ReadFlows(o.flows, fabric);
    SetTcpDefaults(o, flows);

    std::mt19937_64 random(o.seed);
    NodeContainer nodes;
    nodes.Create(fabric.names.size());
    const auto devices = ConnectDevices(fabric, nodes, o);
    InstallStacks(fabric, nodes, devices, o, random);
    NodeContainer hosts;
    for (uint32_t node : fabric.hosts)
    {
        hosts.Add(nodes.Get(node));
    }
    if (!o.attributes.empty())
    {
        std::ofstream out(o.attributes);
        weft::PrintAttributesInForce(out,
                                     Socket::CreateSocket(hosts.Get(0), TcpSocketFactory::GetTypeId()),
                                     devices.at(0));
    }

    weft::FlowRunner runner(flows, hosts);
    Simulator::Stop(Seconds(o.stopSeconds));
    const double before = CpuSeconds();
    Simulator::Run();
    const double cpu = CpuSeconds() - before;
    const double simulated = Simulator::Now().GetSeconds();

    // The queues count anyway, so this adds no run time. A packet that has left its queue has been, or is being, sent:
    // the difference from PhyTxEnd is at most one packet per device.
    uint64_t hops = 0;
    uint64_t drops = 0;
    for (const auto& device : devices)
    {
        const auto queue = device->GetQueue();
        hops += queue->GetTotalReceivedPackets() - queue->GetNPackets();
        drops += queue->GetTotalDroppedPackets();
    }
    if (!o.out.empty())
    {
        WriteResults(o.out, flows);
    }
    std::cout << "{\"packet_hops\":" << hops << ",\"cpu_seconds\":" << cpu << ",\"simulated_seconds\":" << simulated
              << ",\"flows\":" << flows.size() << ",\"flows_finished\":" << runner.Finished() << ",\"drops\":" << drops
              << "}" << std::endl;
    Simulator::Destroy();
}

} // namespace

int main(int argc, char** argv)
{
    try
    {
        Run(ParseOptions(argc, argv));
    }
    catch (const std::exception& error)
    {
        std::cerr << "reference: " << error.what() << std::endl;
        return 1;
    }
    return 0;
}
