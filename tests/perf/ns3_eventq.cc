// The hold model of eventq.c on ns-3's simulator with PriorityQueueScheduler.
#include <cstdio>
#include <ctime>

#include "ns3/core-module.h"
#include "tests/perf/hold.h"

static uint64_t draws = HOLD_SEED;
static unsigned long left;

static void Run()
{
    if (--left == 0)
        ns3::Simulator::Stop();
    ns3::Simulator::Schedule(ns3::TimeStep(hold_delay(&draws)), &Run);
}

static double Seconds()
{
    timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void Measure(unsigned population)
{
    ns3::ObjectFactory factory;
    double best = 1e9;

    factory.SetTypeId("ns3::PriorityQueueScheduler");
    ns3::Simulator::SetScheduler(factory);
    for (unsigned i = 0; i < population; i++)
        ns3::Simulator::Schedule(ns3::TimeStep(hold_delay(&draws)), &Run);
    left = 2 * population;
    ns3::Simulator::Run();
    for (int round = 0; round < HOLD_ROUNDS; round++) {
        double start = Seconds(), took;

        left = HOLD_OPERATIONS;
        ns3::Simulator::Run();
        took = Seconds() - start;
        best = took < best ? took : best;
    }
    std::printf("bench: hold-%u %.0f events/s\n", population, HOLD_OPERATIONS / best);
    ns3::Simulator::Destroy();
}

int main()
{
    Measure(100);
    Measure(10000);
    Measure(100000);
    return 0;
}
