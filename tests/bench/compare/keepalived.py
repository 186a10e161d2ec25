"""keepalived: three VRRP routers, each on a host of its own (a network namespace)."""

import contextlib
import re
import subprocess

from contest import Contest, Setting
from namespaces import NETWORK, Hosts, can_make_namespaces

ADDRESS = f"{NETWORK}.100"


class Vrrp(Contest):
    system = "keepalived"
    title = "keepalived (VRRP)"
    packages = ("keepalived", "iproute2", "nftables")
    signalled = "all processes of the master"
    seen = "the virtual address on another host, by netlink (`ip monitor address`)"
    tightest = ("RFC 5798: the unit is 10 ms (`vrrp_version 3`), and a master is down after three "
                "intervals and a part of one that shrinks with the priority")
    gives = "a virtual address that moves: clients need not know who leads"
    needs = "one network with multicast, `CAP_NET_ADMIN`; no majority, no storage"
    doubles = "yes: in a partition, and beside a master that hangs or was killed: its address stays"
    leads = re.compile(f"^(?!Deleted).*inet {re.escape(ADDRESS)}/")
    settings = (
        Setting("defaults", "VRRP 2, advert 1 s", {"version": 2, "advert_s": 1, "priority": 100}),
        Setting("tightest", "VRRP 3, advert 10 ms, priorities to 254",
                {"version": 3, "advert_s": 0.01, "priority": 252}, 0.1))

    @staticmethod
    def obstacle():
        return None if can_make_namespaces() else "only root can make network namespaces"

    def set_up(self):
        self.hosts = self.stack.enter_context(Hosts(3))
        self.watches = [self.run(*self.hosts.command_prefix(number), "ip", "-oneline", "monitor",
                                 "address") for number in range(3)]
        return [self.run_router(number) for number in range(3)]

    def run_router(self, number):
        config = self.folder / f"{number}.conf"
        config.write_text(f"""
global_defs {{
  vrrp_version {self.values["version"]}
}}
vrrp_instance VI {{
  state BACKUP
  interface eth0
  virtual_router_id 51
  priority {self.values["priority"] + number}
  advert_int {self.values["advert_s"]}
  virtual_ipaddress {{
    {ADDRESS}/32
  }}
}}
""")
        return self.run(*self.hosts.command_prefix(number), "keepalived", "--dont-fork",
                        "--log-console", "--vrrp", "--use-file", config,
                        "--pid", self.folder / f"{number}.pid",
                        "--vrrp_pid", self.folder / f"{number}.vrrp.pid")

    def announcements(self):
        return [(time_ns, router) for router, watch in zip(self.contenders, self.watches)
                for time_ns, text in list(watch.lines) if self.leads.search(text)]

    def holds_address(self, watch):
        """By the last word of the watch."""
        told = [text for _, text in list(watch.lines) if f"inet {ADDRESS}/" in text]
        return bool(told) and bool(self.leads.search(told[-1]))

    def leader(self):
        """The only holder of the address.  The last announcement does not tell: a master says
        nothing when another one has been master beside it for a moment."""
        holders = [router for router, watch in zip(self.contenders, self.watches)
                   if self.holds_address(watch)]
        return holders[0] if len(holders) == 1 else None

    def is_whole(self):
        """The router of the highest priority leads again, and the others back it."""
        return self.leader() is self.contenders[-1] and all(
            router.has_said("Entering BACKUP STATE") for router in self.contenders)

    def revive(self, victim):
        """As after a boot: a router that was killed has left its address and files behind."""
        victim.end()
        for file in self.folder.glob("*.pid"):
            file.unlink()
        with contextlib.suppress(subprocess.CalledProcessError):
            self.hosts.enter(self.contenders.index(victim), "ip", "address", "del",
                             f"{ADDRESS}/32", "dev", "eth0")
        victim.start()
