#!/usr/bin/env python3
"""A group with a past, to look at: five sidecars with an application each, whose leader is killed,
hangs, loses its application, is cut off, steps down and changes the variant, watched by a
Prometheus that goes on answering until you press Ctrl-C.

With a Grafana on this machine (examples/grafana/README.md) its dashboards then show what
metrics/grafana/group.png shows: that picture is the dashboard Group after this story.  --ui makes
the picture of a sidecar's own page, as in sidecar/api/ui/ui.png.

Being cut off takes hosts of their own, which only root can make; this machine gets the address
10.77.0.254 on their network for as long as the story lasts.
"""

import argparse
import contextlib
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/system"))
from browser import Browser, NoBrowser  # noqa: E402
from harness import Group, wait_until  # noqa: E402
from namespaces import Hosts, can_make_namespaces  # noqa: E402
from prometheus_server import Prometheus, is_installed  # noqa: E402

# Times with which a busy machine makes nobody suspect anybody: the story has enough of it.
CALM = 'lease = "3s"\n[failure_detector]\nsuspect_after = "2s"\n'
ATTACHED = '[application]\nattach = "on"\ndrain_timeout = "5s"\n'
WORKER = ROOT / "examples/apps/python/attached_worker.py"
UNIT_MS = 50
SIZE = 5
NAME = "orders"
RULES = sorted((ROOT / "metrics/prometheus").glob("*.yml"))
PAGE_WIDTH, PAGE_HEIGHT = 1120, 800


class Applications:
    """A worker attached to each sidecar of a group: the later its sidecar's number, the fitter."""

    def __init__(self, group):
        self.group, self.running = group, {}
        for sidecar in group.sidecars:
            self.start(sidecar)

    def start(self, sidecar):
        score = self.group.sidecars.index(sidecar)
        self.running[sidecar] = subprocess.Popen(
            [sys.executable, str(WORKER), str(sidecar.flag_file), str(sidecar.socket_file),
             "worker", str(score), str(UNIT_MS)], stdout=subprocess.DEVNULL)

    def kill(self, sidecar):
        worker = self.running.pop(sidecar)
        worker.kill()
        worker.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sidecar in tuple(self.running):
            self.kill(sidecar)


class Story:
    """What happens to a group, told as it happens; `hosts` may be None."""

    def __init__(self, group, applications, hosts, pace_s):
        self.group, self.applications, self.hosts = group, applications, hosts
        self.pace_s = pace_s
        *self.others, self.leader = group.sidecars

    def say(self, text):
        print(time.strftime("%H:%M:%S"), text, flush=True)

    def look(self, times=1.0):
        """So that a graph has something of it."""
        time.sleep(self.pace_s * times)

    def come_back(self):
        self.group.await_leader(self.leader)
        self.say(f"{self.leader.name} leads again")
        self.look()

    def live_through(self, variant):
        self.say(f"variant {variant}: {self.leader.name} leads")
        self.look()
        self.say(f"{self.leader.name} is killed")
        self.leader.kill()
        self.look()
        self.leader.start()
        self.come_back()
        self.say(f"{self.leader.name} hangs")
        self.leader.send_signal(signal.SIGSTOP)
        self.group.await_leader(self.others[-1])
        self.look(0.5)
        self.leader.send_signal(signal.SIGCONT)
        self.come_back()
        self.lose_a_follower()
        self.lose_the_application()
        if self.hosts:
            self.be_cut_in_two()
        self.say(f"{self.leader.name} steps down")
        self.leader.request("POST", "/v1/step-down", {"hold": f"{max(1, round(self.pace_s))}s"})
        self.look()
        self.come_back()

    def lose_a_follower(self):
        follower = self.others[2]
        self.say(f"{follower.name}, a follower, is killed")
        follower.kill()
        self.look()
        follower.start()
        self.group.await_leader(self.leader)

    def lose_the_application(self):
        self.say(f"the application of {self.leader.name} is killed")
        self.applications.kill(self.leader)
        self.group.await_leader(self.others[-1])
        self.look()
        self.applications.start(self.leader)
        self.come_back()

    def be_cut_in_two(self):
        """The leader is with one other, and so in the minority."""
        majority, minority = range(SIZE - 2), range(SIZE - 2, SIZE)
        self.say(f"{self.leader.name} and {self.others[-1].name} are cut off from the others")
        self.hosts.partition(majority, minority)
        wait_until("the others have a leader",
                   lambda: any(self.group.sidecars[number].is_leader() for number in majority))
        self.look()
        self.hosts.heal()
        self.come_back()

    def switch_variant(self, variant, settings):
        self.say(f"the configuration says {variant}")
        for sidecar in self.group.sidecars:
            sidecar.write_config(self.group.config_of(sidecar, extra=settings(variant)))
        wait_until("all elect by it", lambda: all(
            sidecar.get("/v1/status")["variant"] == variant for sidecar in self.group.sidecars))

    def take_picture(self, file):
        """Of the page of the second-highest, which leads because the highest is dead."""
        self.leader.kill()
        successor = self.group.await_leader(self.others[-1])
        self.look(0.5)
        with Browser() as browser:
            browser.set_screen(PAGE_WIDTH, PAGE_HEIGHT)
            browser.go(f"{successor.api_url}/ui")
            browser.await_text("#link", "live")
            browser.await_text("body", f"{successor.name} leads")
            browser.picture(file)
        self.say(f"{file} shows {successor.name}'s page")
        self.leader.start()
        self.come_back()


def settings_of(options):
    """What a variant's [election] table says."""
    delay = 'preempt_delay = "1s"\n' if options.voters else ""
    return lambda variant: f'[election]\nvariant = "{variant}"\n{delay}{CALM}{ATTACHED}'


def tell(options):
    settings = settings_of(options)
    with contextlib.ExitStack() as stack:
        hosts = stack.enter_context(Hosts(SIZE)) if can_make_namespaces() else None
        group = stack.enter_context(Group(
            options.program, SIZE, settings("modified"), NAME, hosts=hosts,
            voters=SIZE if options.voters else 0))
        if hosts:
            hosts.join()
        for number, sidecar in enumerate(group.sidecars):
            sidecar.name = f"{NAME}-{number}"
        for sidecar in group.sidecars:
            sidecar.write_config(group.config_of(sidecar))
        prometheus = Prometheus(group, RULES, port=options.port)
        stack.enter_context(prometheus)
        group.start(*(["--bootstrap"] if options.voters else []))
        wait_until("there are flags", lambda: all(
            sidecar.flag_file.exists() for sidecar in group.sidecars))
        applications = stack.enter_context(Applications(group))
        story = Story(group, applications, hosts, options.pace_s)
        group.await_leader(story.leader)
        story.say(f"Prometheus: http://127.0.0.1:{options.port}")
        if not hosts:
            story.say("without root nobody is cut off")
        story.live_through("modified")
        story.switch_variant("classic", settings)
        story.live_through("classic")
        if options.ui:
            story.take_picture(options.ui)
        if not options.once:
            story.say("the end; Prometheus answers until Ctrl-C")
            with contextlib.suppress(KeyboardInterrupt):
                signal.pause()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/dev/bin/bellwether"))
    parser.add_argument("--port", type=int, default=9090, help="of Prometheus (9090)")
    parser.add_argument("--pace-s", type=float, default=15, help="seconds of each scene (15)")
    parser.add_argument("--voters", action="store_true", help="guard majority")
    parser.add_argument("--ui", type=pathlib.Path, metavar="FILE",
                        help="a picture (PNG) of the page of a sidecar")
    parser.add_argument("--once", action="store_true", help="end with the story")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it as Ctrl-C does
    if not is_installed():
        sys.exit("there is no prometheus here (Debian: package prometheus)")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            tell(options)
    except NoBrowser as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
