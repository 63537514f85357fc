// One TCP flow over one link in ns-3.37, with chosen packets lost or delayed: prints when the sender sent which data.
// `make.sh` runs it over `cases.txt`; the test `ns3_traces.rs` compares our own sender with its output.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <map>
#include <set>
#include <sstream>

using namespace ns3;

// Drops or delays chosen packets that arrive at a device, counted from 0.
class Disturbance : public ErrorModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("Disturbance").SetParent<ErrorModel>().AddConstructor<Disturbance>();
        return id;
    }

    // "index:delay in ns"; -1: dropped.
    static void Install(Ptr<NetDevice> device, const std::string& text)
    {
        Ptr<Disturbance> model = CreateObject<Disturbance>();
        model->m_device = DynamicCast<PointToPointNetDevice>(device);
        std::stringstream items(text);
        for (std::string item; std::getline(items, item, ',');)
        {
            const auto colon = item.find(':');
            if (colon != std::string::npos)
            {
                model->m_plan[std::stoul(item.substr(0, colon))] = std::stoll(item.substr(colon + 1));
            }
        }
        device->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        if (m_late.erase(PeekPointer(packet)) > 0)
        {
            return false;
        }
        const auto entry = m_plan.find(m_arrived++);
        if (entry == m_plan.end())
        {
            return false;
        }
        if (entry->second >= 0)
        {
            Ptr<Packet> late = packet->Copy();
            m_late.insert(PeekPointer(late));
            Simulator::Schedule(NanoSeconds(entry->second), &PointToPointNetDevice::Receive, m_device, late);
        }
        return true;
    }

    void DoReset() override
    {
    }

    std::map<uint32_t, int64_t> m_plan;
    std::set<const Packet*> m_late;
    Ptr<PointToPointNetDevice> m_device;
    uint32_t m_arrived{0};
};

static int64_t g_start;
static uint64_t g_bytes;
static uint64_t g_received;

static int64_t
SinceStart()
{
    return Simulator::Now().GetNanoSeconds() - g_start;
}

static void
Received(Ptr<const Packet> packet, const Address&)
{
    g_received += packet->GetSize();
    if (g_received == g_bytes)
    {
        std::cout << "fct " << SinceStart() << "\n";
    }
}

static void
Sent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() > 0 && g_received < g_bytes)
    {
        std::cout << SinceStart() << " " << header.GetSequenceNumber() << " " << packet->GetSize() << "\n";
    }
}

static void
Watch(Ptr<BulkSendApplication> sender)
{
    sender->GetSocket()->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
}

int
main(int argc, char** argv)
{
    std::string tcp = "TcpCubic";
    std::string forward;
    std::string backward;
    bool sack = true;
    uint32_t mbps = 1000;
    uint32_t queue = 100;
    int64_t delay = 25000;
    g_bytes = 100000;
    g_start = 1000000;

    CommandLine cmd;
    cmd.AddValue("tcp", "congestion control", tcp);
    cmd.AddValue("sack", "selective acknowledgements", sack);
    cmd.AddValue("mbps", "rate of the link in Mbps", mbps);
    cmd.AddValue("queue", "queue length of the link in packets", queue);
    cmd.AddValue("delay", "delay of the link in ns", delay);
    cmd.AddValue("bytes", "size of the flow in bytes", g_bytes);
    cmd.AddValue("start", "start of the flow in ns", g_start);
    cmd.AddValue("forward", "drops and delays of packets to the receiver", forward);
    cmd.AddValue("backward", "drops and delays of packets to the sender", backward);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + tcp));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 22));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(std::to_string(mbps) + "Mbps"));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);
    Disturbance::Install(devices.Get(1), forward);
    Disturbance::Install(devices.Get(0), backward);

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    ApplicationContainer receiver = sink.Install(nodes.Get(1));
    receiver.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Received));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
    source.SetAttribute("MaxBytes", UintegerValue(g_bytes));
    source.SetAttribute("SendSize", UintegerValue(1448));
    ApplicationContainer sender = source.Install(nodes.Get(0));
    sender.Start(NanoSeconds(g_start));
    Simulator::Schedule(NanoSeconds(g_start + 1), &Watch, DynamicCast<BulkSendApplication>(sender.Get(0)));
    Simulator::Stop(Seconds(600));
    Simulator::Run();
    Simulator::Destroy();
}
