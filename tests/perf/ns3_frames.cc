// The work of frames.c on ns-3: point-to-point links, UDP over the Internet stack (its forwarding stands where our switches
// are) with nix-vector routing, so that no routing table is searched. The MTU is such that a packet takes as many bytes on the
// wire as ours: 1,536 and 2 of PPP. Time in picoseconds, as ours: in nanoseconds frames of 1,230.4 ns would be rounded.
#include <cstdio>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "tests/perf/frames_work.h"

using namespace ns3;

enum { PPP = 2, IP_UDP = 28 };

static uint64_t sent, delivered;

struct Sender {
    Ptr<Socket> socket;
    Time period;
    uint32_t left;

    void Send()
    {
        socket->Send(Create<Packet>(FRAMES_WIRE_BYTES - PPP - IP_UDP));
        sent++;
        if (--left)
            Simulator::Schedule(period, &Sender::Send, this);
    }
};

static void Receive(Ptr<Socket> socket)
{
    while (socket->Recv())
        delivered++;
}

// ns-3 puts fq_codel before every device that gets an address; only the device's own queue is to be left.
static void OnlyDeviceQueues(const NodeContainer &nodes)
{
    TrafficControlHelper control;

    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
        for (uint32_t i = 0; i < (*node)->GetNDevices(); i++)
            if ((*node)->GetObject<TrafficControlLayer>()->GetRootQueueDiscOnDevice((*node)->GetDevice(i)))
                control.Uninstall((*node)->GetDevice(i));
}

static void Measure(unsigned n, uint32_t frames)
{
    NodeContainer all, senders;
    Ptr<Node> sw1 = CreateObject<Node>(), sw2 = CreateObject<Node>(), nas = CreateObject<Node>();
    Ipv4NixVectorHelper nix;
    InternetStackHelper stack;
    PointToPointHelper cable;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    std::vector<Sender> sender(n);

    senders.Create(n);
    all.Add(senders);
    all.Add(sw1);
    all.Add(sw2);
    all.Add(nas);
    stack.SetRoutingHelper(nix);
    stack.Install(all);
    cable.SetDeviceAttribute("DataRate", DataRateValue(DataRate(FRAMES_RATE)));
    cable.SetDeviceAttribute("Mtu", UintegerValue(FRAMES_WIRE_BYTES - PPP));
    cable.SetChannelAttribute("Delay", TimeValue(PicoSeconds(FRAMES_DELAY)));
    cable.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize",
                   QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, FRAMES_QUEUE)));
    for (unsigned i = 0; i < n; i++) {
        addresses.Assign(cable.Install(senders.Get(i), sw1));
        addresses.NewNetwork();
    }
    addresses.Assign(cable.Install(sw1, sw2));
    addresses.NewNetwork();
    Ipv4Address address = addresses.Assign(cable.Install(sw2, nas)).GetAddress(1);
    OnlyDeviceQueues(all);

    Ptr<Socket> sink = Socket::CreateSocket(nas, UdpSocketFactory::GetTypeId());
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
    sink->SetRecvCallback(MakeCallback(&Receive));
    sent = delivered = 0;
    for (unsigned i = 0; i < n; i++) {
        sender[i].socket = Socket::CreateSocket(senders.Get(i), UdpSocketFactory::GetTypeId());
        sender[i].socket->Connect(InetSocketAddress(address, 9));
        sender[i].period = PicoSeconds(int64_t(FRAMES_STEP_PS) * n);
        sender[i].left = frames;
        Simulator::Schedule(PicoSeconds(int64_t(FRAMES_STEP_PS) * (i + 1)), &Sender::Send, &sender[i]);
    }
    double start = frames_seconds();
    Simulator::Run();
    start = frames_seconds() - start;
    std::printf("bench: frames-%u %.0f frames/s\n", n, sent / start);
    std::printf("same: delivered-%u %llu\n", n, (unsigned long long)delivered);
    Simulator::Destroy();
}

int main()
{
    Time::SetResolution(Time::PS);
    Measure(8, FRAMES_EACH_8);
    Measure(1000, FRAMES_EACH_1000);
    return 0;
}
