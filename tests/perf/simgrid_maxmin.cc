/* SimGrid's side of the max-min benchmark: model CM02 without latency, cross traffic and TCP's window bound. Also holds every
 * completion against ours. Takes 40 s where ours takes a quarter of a second. */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "tests/perf/maxmin_run.h"

namespace sg4 = simgrid::s4u;

static struct work_flow flows[WORK_FLOWS];
static double ours[WORK_FLOWS];

/* Completions that are further apart than 1e-6 of the time. */
static int differing(std::vector<double> const &theirs)
{
    int n = 0;

    for (int i = 0; i < WORK_FLOWS; i++)
        n += !(std::fabs(ours[i] - theirs[i]) <= 1e-6 * theirs[i]);
    return n;
}

int main()
{
    std::vector<std::string> words = {"simgrid_maxmin",
                                      "--log=xbt_cfg.thresh:warning",
                                      "--cfg=network/model:CM02",
                                      "--cfg=network/crosstraffic:0",
                                      "--cfg=network/TCP-gamma:0",
                                      "--cfg=surf/precision:1e-9",
                                      "--cfg=maxmin/precision:1e-9"};
    std::vector<char *> argv;
    for (auto &w : words)
        argv.push_back(&w[0]);
    int argc = (int)argv.size();
    argv.push_back(nullptr);
    sg4::Engine engine(&argc, argv.data());

    auto *zone = sg4::create_full_zone("zone");
    std::vector<sg4::Host *> hosts, vips;
    std::vector<sg4::Link *> up, down;
    for (int i = 0; i < WORK_HOSTS; i++) {
        hosts.push_back(zone->create_host("host" + std::to_string(i), 1e9));
        up.push_back(zone->create_link("up" + std::to_string(i), work_host_rate)->seal());
    }
    for (int i = 0; i < WORK_VIPS; i++) {
        vips.push_back(zone->create_host("vip" + std::to_string(i), 1e9));
        down.push_back(zone->create_link("down" + std::to_string(i), work_vip_rate)->seal());
    }
    for (int h = 0; h < WORK_HOSTS; h++)
        for (int v = 0; v < WORK_VIPS; v++)
            zone->add_route(hosts[h]->get_netpoint(), vips[v]->get_netpoint(), nullptr, nullptr,
                            {sg4::LinkInRoute(up[h]), sg4::LinkInRoute(down[v])}, false);
    zone->seal();

    work_fill(flows);
    std::vector<double> done;
    sg4::Actor::create("sender", hosts[0], [&]() {
        std::vector<sg4::CommPtr> comms;
        for (auto const &f : flows)
            comms.push_back(sg4::Comm::sendto_init(hosts[f.host], vips[f.vip])->set_payload_size(f.bytes));
        for (auto const &c : comms)
            c->vetoable_start();
        sg4::Comm::wait_all(comms);
        for (auto const &c : comms)
            done.push_back(c->get_finish_time());
    });
    std::clock_t start = std::clock();
    engine.run();
    double seconds = (double)(std::clock() - start) / CLOCKS_PER_SEC;

    double sum = 0;
    for (double t : done)
        sum += t;
    std::printf("bench: completions %.6g flows/s\n", WORK_FLOWS / seconds);
    std::printf("same: last-completion %.12g 1e-6\n", *std::max_element(done.begin(), done.end()));
    std::printf("same: mean-completion %.12g 1e-6\n", sum / WORK_FLOWS);
    if (!work_run(flows, ours))
        return 1;
    std::printf("same: completions-that-differ-by-1e-6 %d\n", differing(done));
    return 0;
}
