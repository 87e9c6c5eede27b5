#!/usr/bin/env python3
"""What the devices of a topology would print: makes a folder for `nfsbal import` from an expanded topology file.

    emu check --expand FILE | sample.py DIR

The outputs follow the vendors' published formats (ESXCLI reference, Cisco and ONTAP command references, TrueNAS API reference,
bonding.rst, lldpctl(8)). Hosts alternate between esxcli's JSON and its plain form, and between one file per command and one
file with a collector's markers.
"""
import json
import os
import re
import sys

import yaml


class Loader(yaml.SafeLoader):
    pass


Loader.yaml_implicit_resolvers = {
    k: [r for r in v if r[0] == "tag:yaml.org,2002:null"] for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
site = yaml.load(sys.stdin, Loader)
out = sys.argv[1]
nodes, links = site["nodes"], site["links"]


def mbps(text):
    number, unit = re.match(r"([0-9.]+)([MG])", text).groups()
    return int(float(number) * (1000 if unit == "G" else 1))


far, speed = {}, {}
for link in links:
    a, b = link["ends"]
    for x, y in (a, b), (b, a):
        far[x] = y
        speed[x] = mbps(link["speed"])


def put(node, name, text):
    path = os.path.join(out, node, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def netmask(prefix):
    bits = (0xFFFFFFFF << (32 - int(prefix))) & 0xFFFFFFFF
    return ".".join(str(bits >> s & 255) for s in (24, 16, 8, 0))


def table(rows):
    """esxcli's: columns as wide as their longest text, numbers to the right."""
    if not rows:
        return ""
    keys = list(rows[0])
    width = {k: max([len(k)] + [len(str(r[k])) for r in rows]) for k in keys}
    right = {k: all(isinstance(r[k], int) for r in rows) for k in keys}
    lines = ["  ".join(k.rjust(width[k]) if right[k] else k.ljust(width[k]) for k in keys)]
    lines.append("  ".join("-" * width[k] for k in keys))
    for r in rows:
        cells = [str(r[k]).lower() if isinstance(r[k], bool) else str(r[k]) for k in keys]
        lines.append("  ".join(c.rjust(width[k]) if right[k] else c.ljust(width[k]) for c, k in zip(cells, keys)))
    return "\n".join(lines) + "\n"


def blocks(rows):
    text = ""
    for r in rows:
        if "Name" in r or "DVSwitch" in r:
            text += "%s\n" % r.get("Name", r.get("DVSwitch"))
        for k, v in r.items():
            if isinstance(v, list) and v and isinstance(v[0], dict):
                text += "   %s:\n" % k
                for item in v:
                    for k2, v2 in item.items():
                        if isinstance(v2, dict):
                            text += "         %s:\n" % k2
                            text += "".join("            %s: %s\n" % kv for kv in v2.items())
                        else:
                            text += "         %s: %s\n" % (k2, v2)
            else:
                v = ", ".join(v) if isinstance(v, list) else str(v).lower() if isinstance(v, bool) else v
                text += "   %s: %s\n" % (k, v)
        text += "\n"
    return text


def camel(v):
    if isinstance(v, dict):
        return {re.sub(r"[^A-Za-z0-9]", "", k): camel(x) for k, x in v.items()}
    return [camel(x) for x in v] if isinstance(v, list) else v


TEAMING = {"port-id": "srcport", "mac-hash": "srcmac", "ip-hash": "iphash", "explicit": "explicit"}


class Esxi:
    def __init__(self, name, node, number):
        self.name, self.node = name, node
        self.json, self.collected = number % 2 == 0, number % 3 == 0
        self.text = ""

    def emit(self, command, rows, plain=table, single=False):
        if self.json:
            body = json.dumps(camel(rows[0] if single else rows), indent=1) + "\n"
        else:
            body = plain(rows)
        words = "esxcli %s%s" % ("--formatter=json " if self.json else "", command)
        self.raw(words, re.sub(r"[^A-Za-z0-9.-]+", "_", command) + (".json" if self.json else ".txt"), body)

    def raw(self, command, name, body):
        if self.collected:
            self.text += "==== %s\n%s\n" % (command, body)
        else:
            put(self.name, name, body)

    def run(self):
        node = self.node
        version = re.match(r"([0-9.]+)(?:u([0-9]+))?", str(node.get("version", "8.0"))).groups()
        self.emit(
            "system version get",
            [{"Product": "VMware ESXi", "Version": version[0] + ".0", "Build": "Releasebuild-1", "Update": version[1] or "0", "Patch": "0"}],
            blocks,
            True,
        )
        mounts = {"nfs": [], "nfs41": []}
        for ds, d in site.get("datastores", {}).items():
            if "mounted" not in d or self.name not in d.get("hosts", [self.name]):
                continue
            server = d["mounted"]
            if isinstance(server, dict):
                server = server.get(self.name, server.get("default"))
            if not server:
                continue
            path = d["export"].split(":")[-1]
            row = {"Volume Name": ds, "Host": server, "Share": path, "Accessible": True, "Mounted": True, "Read-Only": False, "isPE": False}
            n = d.get("nconnect", 1)
            n = n if not isinstance(n, dict) else n.get(self.name, n.get("default", 1))
            row["Connections"] = int(n)
            row["Hardware Acceleration"] = "Not Supported"
            if d.get("nfs", "3") == "3":
                mounts["nfs"].append(row)
            else:
                mounts["nfs41"].append({("Host(s)" if k == "Host" else k): v for k, v in row.items()})
        self.emit("storage nfs list", mounts["nfs"])
        self.emit("storage nfs41 list", mounts["nfs41"])
        switches, groups, nics = [], [], []
        for vs, v in node.get("vswitches", {}).items():
            pgs = [p for p, g in node.get("portgroups", {}).items() if g["vswitch"] == vs]
            switches.append(
                {"Name": vs, "Class": "cswitch", "Num Ports": 5632, "MTU": int(v.get("mtu", 1500)), "CDP Status": "listen",
                 "Uplinks": list(reversed(v["uplinks"])), "Portgroups": pgs or ["pg " + vs]})
            teaming = v.get("teaming", "port-id")
            self.emit(
                "network vswitch standard policy failover get -v %s" % vs,
                [{"Load Balancing": TEAMING[teaming], "Network Failure Detection": "beacon" if v.get("detection") == "beacon" else "link",
                  "Notify Switches": True, "Failback": v.get("failback", True),
                  "Active Adapters": [u for u in v["uplinks"] if u not in v.get("standby", []) + v.get("unused", [])],
                  "Standby Adapters": v.get("standby", []), "Unused Adapters": v.get("unused", [])}],
                blocks, True)
            for p in pgs:
                g = node["portgroups"][p]
                groups.append({"Name": p, "Virtual Switch": vs, "Active Clients": 1, "VLAN ID": int(g.get("vlan", 0))})
                order = g.get("active") or [u for u in v["uplinks"] if u not in g.get("standby", []) + g.get("unused", [])]
                self.emit(
                    "network vswitch standard portgroup policy failover get -p %s" % p,
                    [{"Load Balancing": TEAMING[g.get("teaming", teaming)], "Network Failure Detection": "link", "Notify Switches": True,
                      "Failback": True, "Active Adapters": order, "Standby Adapters": g.get("standby", []),
                      "Unused Adapters": g.get("unused", []), "Override Vswitch Load Balancing": "teaming" in g,
                      "Override Vswitch Network Failure Detection": False, "Override Vswitch Notify Switches": False,
                      "Override Vswitch Failback": False, "Override Vswitch Uplinks": "active" in g}],
                    blocks, True)
            if not pgs:
                groups.append({"Name": "pg " + vs, "Virtual Switch": vs, "Active Clients": 1, "VLAN ID": 0})
        self.emit("network vswitch standard list", switches, blocks)
        self.emit("network vswitch standard portgroup list", groups)
        dvs = []
        for vs, v in node.get("dvswitches", {}).items():
            dvs.append({"Name": vs, "VDS ID": "50 1c", "MTU": int(v.get("mtu", 1500)), "Uplinks": v["uplinks"],
                        "DVPort": [{"Client": u, "DVPortgroup ID": "dvportgroup-30", "In Use": True, "Port ID": "16"} for u in v["uplinks"]]})
            lag = v.get("lag")
            if lag:
                flag = "FA" if lag.get("lacp-rate") == "fast" else "SA"
                self.emit("network vswitch dvs vmware lacp status get",
                          [{"DVSwitch": vs, "Flags": "S - Device is sending Slow LACPDUs, F - Device is sending fast LACPDUs", "LAGID": 123,
                            "Mode": "Active", "Nic List": [
                                {"Local Information": {"Admin Key": 11, "Flags": flag, "Port State": "ACT,AGG,SYN,COL,DIST,"}, "Nic": u,
                                 "Partner Information": {"Age": "00:00:18", "Flags": flag}, "State": "Bundled"}
                                for u in lag.get("members", v["uplinks"])]}], blocks)
                self.emit("network vswitch dvs vmware lacp config get",
                          [{"DVS Name": vs, "LAG Name": lag.get("name", "lag1"), "LAG ID": 123, "NICs": ",".join(v["uplinks"]),
                            "Enabled": True, "Mode": "Active", "Load balance": lag.get("hash", "esxi-lacp-src-dst-ip-port-vlan")}])
        if dvs:
            self.emit("network vswitch dvs vmware list", dvs, blocks)
        ifaces, addresses = [], []
        for vmk, f in node["vmknics"].items():
            group = node.get("portgroups", {}).get(f.get("portgroup"), {})
            vs = f.get("vswitch", group.get("vswitch"))
            distributed = vs in node.get("dvswitches", {})
            ifaces.append({"Name": vmk, "MAC Address": f.get("mac", "N/A"), "Enabled": True, "Portset": vs,
                           "Portgroup": "N/A" if distributed else f.get("portgroup", "pg " + vs), "VDS Name": vs if distributed else "N/A",
                           "MTU": int(f.get("mtu", 1500)), "TSO MSS": 65535})
            address, prefix = f["address"].split("/")
            addresses.append({"Name": vmk, "IPv4 Address": address, "IPv4 Netmask": netmask(prefix), "IPv4 Broadcast": address,
                              "Address Type": "STATIC", "Gateway": f.get("gateway", "0.0.0.0"), "DHCP DNS": False})
            self.emit("network ip interface tag get -i %s" % vmk, [{"Tags": "Management" if f.get("management") == "true" else "VMotion"}],
                      blocks, True)
        self.emit("network ip interface list", ifaces, blocks)
        self.emit("network ip interface ipv4 get", addresses)
        hints = "(vim.host.PhysicalNic.NetworkHint) [\n"
        for end in sorted(e for e in far if e.startswith(self.name + ":")):
            nic, peer = end.split(":")[1], far[end].split(":")
            nics.append({"Name": nic, "PCI Device": "0000:02:00.0", "Driver": "igbn", "Admin Status": "Up", "Link Status": "Up",
                         "Speed": speed[end], "Duplex": "Full", "MAC Address": node.get("nics", {}).get(nic, {}).get("mac", "N/A"),
                         "MTU": 9000, "Description": "Intel"})
            if nodes[peer[0]]["kind"] == "switch":
                hints += (
                    '   (vim.host.PhysicalNic.NetworkHint) {\n      device = "%s",\n'
                    "      connectedSwitchPort = (vim.host.PhysicalNic.CdpInfo) {\n         cdpVersion = 0,\n"
                    '         devId = "%s.corp.example(FOC0001)",\n         address = "192.0.2.1",\n         portId = "%s",\n'
                    '         hardwarePlatform = "%s",\n      },\n      lldpInfo = (vim.host.PhysicalNic.LldpInfo) null\n   },\n'
                    % (nic, peer[0], long_port(peer[1]), platform(peer[0])))
        self.emit("network nic list", nics)
        self.raw("vim-cmd hostsvc/net/query_networkhint", "query_networkhint.txt", hints + "]\n")
        settings = [{"Path": "/" + k.replace(".", "/"), "Type": "integer", "Int Value": int(v)} for k, v in node.get("limits", {}).items()]
        if settings:
            self.emit("system settings advanced list", settings, blocks)
        self.raw("cat /etc/hosts", "etc/hosts", hosts_file())
        if self.collected:
            put(self.name, "collected.txt", self.text)


def long_port(port):
    return re.sub(r"^gi(?=[0-9])", "GigabitEthernet", re.sub(r"^te(?=[0-9])", "TenGigabitEthernet", port))


def platform(node):
    model = nodes[node].get("model", "switch")
    return model.replace("cisco-", "cisco WS-C", 1) if model.startswith("cisco-") else model


def all_vips(node):
    """address with prefix, its settings, its svm."""
    for group, g in list(node.get("svms", {}).items()) + list(node.get("zones", {}).items()) + [(None, node)]:
        for a, v in (g.get("vips") or {}).items():
            yield a, v or {}, group


def hosts_file():
    text = "127.0.0.1\tlocalhost\n"
    for node in nodes.values():
        for a, v, _ in all_vips(node) if node["kind"] == "nas" else ():
            names = v.get("name", [])
            if names:
                text += "%s\t%s\n" % (a.split("/")[0], " ".join(names if isinstance(names, list) else [names]))
    return text


def lldp(name, prefix=""):
    """lldpctl -f json: an array, or an object when there is one."""
    ifaces = []
    for end in sorted(e for e in far if e.startswith("%s:%s" % (name, prefix))):
        peer = far[end].split(":")
        ifaces.append({end.split(":")[1][len(prefix):]: {
            "via": "LLDP", "rid": "1", "age": "0 day, 00:01:02",
            "chassis": {peer[0]: {"id": {"type": "mac", "value": "02:00:00:00:00:01"}, "descr": "switch of some make",
                                  "capability": [{"type": "Bridge", "enabled": True}]}},
            "port": {"id": {"type": "ifname", "value": peer[1]}, "descr": peer[1], "ttl": "120"}}})
    return json.dumps({"lldp": {"interface": ifaces[0] if len(ifaces) == 1 else ifaces}}, indent=2) + "\n"


MODES = {"802.3ad": "IEEE 802.3ad Dynamic link aggregation", "balance-xor": "load balancing (xor)",
         "active-backup": "fault-tolerance (active-backup)"}


def linux(name, node):
    links_, addrs, number = [], [], 1

    def add(ifname, **more):
        nonlocal number
        number += 1
        links_.append(dict({"ifindex": number, "ifname": ifname, "flags": ["UP"], "mtu": 1500, "operstate": "UP", "link_type": "ether"}, **more))

    add("lo", mtu=65536)
    for end in sorted(e for e in far if e.startswith(name + ":")):
        nic = end.split(":")[1]
        bond = next((b for b, v in node.get("bonds", {}).items() if nic in v["members"]), None)
        add(nic, **({"master": bond, "linkinfo": {"info_slave_kind": "bond", "info_slave_data": {"state": "ACTIVE"}}} if bond else {}))
    for b, v in node.get("bonds", {}).items():
        bridge = next((br for br, x in node.get("bridges", {}).items() if b in x["ports"]), None)
        info = {"info_kind": "bond", "info_data": {"mode": v["mode"], "miimon": 100}}
        more = {"linkinfo": info, "mtu": int(v.get("mtu", node.get("bridges", {}).get(bridge, {}).get("mtu", 1500)))}
        if bridge:
            more["master"] = bridge
            info.update({"info_slave_kind": "bridge", "info_slave_data": {"state": "forwarding"}})
        if "mac" in v:
            more["address"] = v["mac"]
        add(b, **more)
        hash_ = v.get("hash", "layer2").replace("linux-", "")
        text = "Ethernet Channel Bonding Driver: v6.8.4-2-pve\n\nBonding Mode: %s\n" % MODES[v["mode"]]
        if v["mode"] != "active-backup":
            text += "Transmit Hash Policy: %s (1)\n" % hash_
        else:
            text += "Primary Slave: %s (primary_reselect always)\nCurrently Active Slave: %s\n" % (v.get("primary", "None"), v["members"][0])
        text += "MII Status: up\nMII Polling Interval (ms): 100\n"
        if v["mode"] == "802.3ad":
            text += "\n802.3ad info\nLACP active: on\nLACP rate: %s\nMin links: 0\n" % v.get("lacp-rate", "slow")
        for m in v["members"]:
            text += "\nSlave Interface: %s\nMII Status: up\nSpeed: %d Mbps\nDuplex: full\nLink Failure Count: 0\n" % (m, speed["%s:%s" % (name, m)])
        put(name, "proc/net/bonding/" + b, text)
    for br, v in node.get("bridges", {}).items():
        add(br, mtu=int(v.get("mtu", 1500)), linkinfo={"info_kind": "bridge", "info_data": {}})
        add("tap100i0", master=br, linkinfo={"info_kind": "tun", "info_slave_kind": "bridge"})
    have = {x["ifname"] for x in links_}
    for f, v in node.get("interfaces", {}).items():
        if f not in have:
            parent = v.get("parent", f.split(".")[0])
            mtu = v.get("mtu", next((x["mtu"] for x in links_ if x["ifname"] == parent), 1500))
            more = {"link": parent, "mtu": int(mtu)}
            if "vlan" in v:
                more["linkinfo"] = {"info_kind": "vlan", "info_data": {"protocol": "802.1Q", "id": int(v["vlan"]), "flags": ["REORDER_HDR"]}}
            add(f, **more)
        if "mtu" in v:
            next(x for x in links_ if x["ifname"] == f)["mtu"] = int(v["mtu"])
        if "address" in v:
            address, prefix = v["address"].split("/")
            addrs.append({"ifname": f, "addr_info": [{"family": "inet", "local": address, "prefixlen": int(prefix), "scope": "global"}]})
    put(name, "ip-j-d-link.json", json.dumps(links_))
    put(name, "ip-j-addr.json", json.dumps(addrs))
    put(name, "uname-r.txt", str(node.get("kernel", "6.1")) + "\n")
    put(name, "lldpctl.json", lldp(name))
    put(name, "class-net-speed", "".join("%s %d\n" % (e.split(":")[1], speed[e]) for e in far if e.startswith(name + ":")))
    mounts, cfg = "proc /proc proc rw,relatime 0 0\n", ""
    for ds, d in site.get("datastores", {}).items():
        if "mounted" not in d or name not in d.get("hosts", [name]):
            continue
        server = d["mounted"] if not isinstance(d["mounted"], dict) else d["mounted"].get(name, d["mounted"].get("default"))
        version, n = d.get("nfs", "3"), d.get("nconnect", "1")
        n = n if not isinstance(n, dict) else n.get(name, n.get("default", "1"))
        more = ",nconnect=%s" % n if n != "1" else ""
        path = d["export"].split(":")[-1]
        mounts += "%s:%s /mnt/pve/%s nfs%s rw,relatime,vers=%s,proto=tcp%s,addr=%s 0 0\n" % (
            server, path.replace(" ", "\\040"), ds, "" if version == "3" else "4", version, more, server)
        cfg += "nfs: %s\n\tpath /mnt/pve/%s\n\tserver %s\n\texport %s\n\toptions vers=%s%s\n\tcontent images\n\n" % (ds, ds, server, path, version, more)
    put(name, "proc/mounts", mounts)
    put(name, "etc/pve/storage.cfg", "dir: local\n\tpath /var/lib/vz\n\n" + cfg)
    put(name, "etc/hosts", hosts_file())


def switch(name, node):
    text = "Flags:  D - down        P - bundled in port-channel\n        I - stand-alone s - suspended\n\n"
    text += "Number of channel-groups in use: %d\n\nGroup  Port-channel  Protocol    Ports\n" % len(node.get("lags", {}))
    text += "------+-------------+-----------+-----------------------------------------------\n"
    for lag, v in node.get("lags", {}).items():
        ports = v.get("members") or [p.split(":")[1] for p in sorted(far, key=natural)
                                     if p.startswith(name + ":") and is_member(far[p], v["to"])]
        number = re.sub(r"\D", "", lag)
        for i in range(0, len(ports), 3):
            words = "  ".join("%s(P)" % (p[0].upper() + p[1:]) for p in ports[i:i + 3])
            if i == 0:
                text += "%-6s %-15s %-9s %s\n" % (number, "Po%s(SU)" % number, "LACP" if v["mode"] == "lacp" else "  -", words)
            else:
                text += " " * 32 + words + "\n"
    put(name, "show-etherchannel-summary.txt", text)
    if str(node.get("hash", "")).startswith("cisco-"):
        put(name, "show-etherchannel-load-balance.txt",
            "EtherChannel Load-Balancing Configuration:\n        %s\n\nEtherChannel Load-Balancing Addresses Used Per-Protocol:\n" % node["hash"][6:])
    if "mtu" in node:
        put(name, "show system mtu.txt", "System MTU size is 1500 bytes\nSystem Jumbo MTU size is %s bytes\n" % node["mtu"])


def natural(text):
    return [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", text)]


def is_member(end, team):
    node, rest = end.split(":")
    if node != team.split(":")[0]:
        return False
    n, t = nodes[node], team.split(":")[1]
    if n["kind"] == "esxi":
        if t in n.get("vswitches", {}):
            return rest in n["vswitches"][t]["uplinks"]
        return any(rest in v["uplinks"] for k, v in n.get("dvswitches", {}).items() if k == t or v.get("lag", {}).get("name") == t)
    if n["kind"] == "linux":
        return rest in n["bonds"][t]["members"]
    if n["kind"] == "nas":
        c, t = t.split(".") if "." in t else (t, None)
        return rest.startswith(c + ".")
    return False


def ontap(name, node):
    text = ("            Logical    Status     Network            Current       Current Is\n"
            "Vserver     Interface  Admin/Oper Address/Mask       Node          Port    Home\n"
            "----------- ---------- ---------- ------------------ ------------- ------- ----\n")
    last, count = None, 0
    for a, v, svm in all_vips(node):
        svm = svm or "svm0"
        c = node["controllers"][v["home"]]
        port = c["lag"]["name"] + ("-%s" % c["vlan"] if "vlan" in c else "")
        if svm != last:
            text += "%s\n" % svm
        lif = "lif_with_a_long_name_%d" % count if count == 1 else "lif_%d" % count
        if len(lif) > 10:
            text += "            %s\n%23s%-10s %-18s %-13s %-7s true\n" % (lif, "", "up/up", a, v["home"], port)
        else:
            text += "            %-10s %-10s %-18s %-13s %-7s true\n" % (lif, "up/up", a, v["home"], port)
        last, count = svm, count + 1
    put(name, "network-interface-show.txt", text + "%d entries were displayed.\n" % count)
    text = ("         Port       Distribution                   Active\n"
            "Node     IfGrp      Function     MAC Address       Ports   Ports\n"
            "-------- ---------- ------------ ----------------- ------- -------------------\n")
    ports = ""
    for cn, c in node["controllers"].items():
        members = c["lag"].get("members", c["nics"])
        text += "%s\n%9s%-10s %-12s %-17s %-7s %s\n" % (cn, "", c["lag"]["name"], c["lag"]["hash"].replace("netapp-", ""),
                                                       c["lag"].get("mac", "-"), "full", ", ".join(members[:2]))
        if members[2:]:
            text += " " * 59 + ", ".join(members[2:]) + "\n"
        ports += ("Node: %s\n                                                  Speed(Mbps) Health\n"
                  "Port      IPspace      Broadcast Domain Link MTU  Admin/Oper  Status\n"
                  "--------- ------------ ---------------- ---- ---- ----------- --------\n" % cn)
        for p in members:
            ports += "%-9s Default      -                up   %-4s auto/%-6d healthy\n" % (p, c["mtu"], speed["%s:%s.%s" % (name, cn, p)])
        if "vlan" in c:
            ports += "%-9s Default      nfs              up   %-4s -/-         healthy\n" % ("%s-%s" % (c["lag"]["name"], c["vlan"]), c["mtu"])
        ports += "%d entries were displayed.\n\n" % (len(members) + 1)
    put(name, "network-port-ifgrp-show.txt", text)
    put(name, "network-port-show.txt", ports)
    text = "vserver  volume junction-path node\n-------- ------ ------------- ----\n"
    for svm, g in node.get("svms", {"svm0": node}).items():
        for path, e in g["exports"].items():
            text += "%-8s %-6s %-13s %s\n" % (svm, path[1:], path, e.get("owner", "-"))
    put(name, "volume-show-fields.txt", text)
    text = ("Node/       Local  Discovered\nProtocol    Port   Device (LLDP: ChassisID)  Interface         Platform\n"
            "----------- ------ ------------------------- ----------------  ----------------\n")
    for cn in node["controllers"]:
        first = True
        for end in sorted(e for e in far if e.startswith("%s:%s." % (name, cn))):
            peer = far[end].split(":")
            text += "%-11s %-6s %-25s %-17s %s\n" % ("%s/cdp" % cn if first else "", end.split(".")[-1], peer[0] + ".corp.example",
                                                    long_port(peer[1]), platform(peer[0]))
            first = False
    put(name, "network-device-discovery-show.txt", text)
    text = ("                              Takeover\nNode           Partner        Possible State Description\n"
            "-------------- -------------- -------- -------------------------------------\n")
    for cn, c in node["controllers"].items():
        text += "%-14s %-14s true     Connected to %s\n" % (cn, c.get("takeover", "-"), c.get("takeover", "-"))
    put(name, "storage-failover-show.txt", text)


    put(name, "version.txt", "NetApp Release %sP3: Wed Mar 02 12:00:00 UTC 2022\n" % node["model"].rsplit("-", 1)[1])


def truenas(name, node):
    """One head; also any NAS of one controller that is not NetApp's."""
    (cn, c), = node["controllers"].items()
    lags = dict(c.get("lags", {}))
    if "lag" in c:
        lags[c["lag"].get("name", "bond0")] = c["lag"]
    rows = []
    for nic in c["nics"]:
        rows.append({"id": nic, "name": nic, "type": "PHYSICAL", "aliases": [], "mtu": None,
                     "state": {"name": nic, "mtu": 1500, "aliases": [], "active_media_type": "Ethernet",
                               "active_media_subtype": "%dMb/s" % speed["%s:%s.%s" % (name, cn, nic)]}})
    for lag, v in lags.items():
        rows.append({"id": lag, "name": lag, "type": "LINK_AGGREGATION", "aliases": [], "mtu": int(c.get("mtu", 1500)),
                     "lag_protocol": "LACP" if v["mode"] == "lacp" else "LOADBALANCE", "lag_ports": v.get("members", c["nics"]),
                     "xmit_hash_policy": v["hash"].replace("linux-", "").upper(), "lacpdu_rate": v.get("lacp-rate", "slow").upper(),
                     "state": {"name": lag, "link_address": v.get("mac", ""), "mtu": int(c.get("mtu", 1500)), "aliases": []}})
    mtu = int(c.get("mtu", 1500))
    for a, v, _ in all_vips(node):
        base, vlan = v.get("port", next(iter(lags), c["nics"][0])), v.get("vlan", c.get("vlan"))
        ifname = "vlan%s" % vlan if vlan else base
        holder = next((r for r in rows if r["name"] == ifname), None)
        if not holder:
            holder = {"id": ifname, "name": ifname, "type": "VLAN", "vlan_parent_interface": base, "vlan_tag": int(vlan), "aliases": [],
                      "state": {"name": ifname, "aliases": []}}
            rows.append(holder)
        holder["mtu"] = int(v.get("mtu", mtu))
        holder["aliases"].append({"type": "INET", "address": a.split("/")[0], "netmask": int(a.split("/")[1])})
    put(name, "midclt-interface.query.json", json.dumps(rows))
    put(name, "midclt-sharing.nfs.query.json", json.dumps([{"id": i, "path": p, "enabled": True} for i, p in enumerate(node["exports"])]))
    put(name, "lldpctl.json", lldp(name, cn + "."))
    put(name, "uname.txt", str(node.get("kernel", "6.6")) + "\n")


for i, (name, node) in enumerate(nodes.items()):
    kind = node["kind"]
    if kind == "esxi":
        Esxi(name, node, i).run()
    elif kind == "linux":
        linux(name, node)
    elif kind == "switch":
        switch(name, node)
    elif kind == "nas" and "netapp" in node.get("model", ""):
        ontap(name, node)
    elif kind == "nas":
        truenas(name, node)
