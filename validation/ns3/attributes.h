// Prints the ns-3 attributes in force, read back from the attribute system, to verify README.md.
#pragma once

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <ostream>

namespace weft
{

/// Lines `class,attribute,value in force,ns-3's own default` of a class, read from `object` if given.
inline void PrintAttributes(std::ostream& out, ns3::TypeId tid, ns3::Ptr<ns3::Object> object = nullptr)
{
    for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
    {
        const ns3::TypeId::AttributeInformation info = tid.GetAttribute(i);
        const std::string type = info.checker->GetValueTypeName();
        if (type == "ns3::PointerValue" || type == "ns3::ObjectPtrContainerValue" || type == "ns3::CallbackValue")
        {
            continue; // objects, not values
        }
        std::string value = info.initialValue->SerializeToString(info.checker);
        if (object && info.accessor->HasGetter())
        {
            ns3::StringValue read;
            object->GetAttribute(info.name, read);
            value = read.Get();
        }
        out << tid.GetName() << ',' << info.name << ',' << value << ','
            << info.originalInitialValue->SerializeToString(info.checker) << '\n';
    }
}

/// All attributes of endpoints, links and IP that affect completion times. `socket` is a new TCP socket.
inline void PrintAttributesInForce(std::ostream& out,
                                   ns3::Ptr<ns3::Socket> socket,
                                   ns3::Ptr<ns3::PointToPointNetDevice> device)
{
    out << "class,attribute,in_force,ns3_default\n";
    PrintAttributes(out, ns3::TcpSocket::GetTypeId(), socket);
    PrintAttributes(out, ns3::TcpSocketBase::GetTypeId(), socket);
    PrintAttributes(out, ns3::TcpL4Protocol::GetTypeId(), socket->GetNode()->GetObject<ns3::TcpL4Protocol>());

    ns3::PointerValue pointer;
    socket->GetAttribute("CongestionOps", pointer);
    const auto congestion = pointer.GetObject();
    PrintAttributes(out, congestion->GetInstanceTypeId(), congestion);

    // Not reachable from a socket: the defaults of its components.
    PrintAttributes(out, ns3::TcpSocketState::GetTypeId());
    PrintAttributes(out, ns3::TcpPrrRecovery::GetTypeId());
    PrintAttributes(out, ns3::RttEstimator::GetTypeId());
    PrintAttributes(out, ns3::RttMeanDeviation::GetTypeId());

    PrintAttributes(out, ns3::PointToPointNetDevice::GetTypeId(), device);
    PrintAttributes(out, ns3::PointToPointChannel::GetTypeId(), device->GetChannel());
    PrintAttributes(out, device->GetQueue()->GetInstanceTypeId(), device->GetQueue());
    PrintAttributes(out, ns3::Ipv4::GetTypeId(), socket->GetNode()->GetObject<ns3::Ipv4>());
    PrintAttributes(out, ns3::Ipv4L3Protocol::GetTypeId(), socket->GetNode()->GetObject<ns3::Ipv4L3Protocol>());
}

} // namespace weft
