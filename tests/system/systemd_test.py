#!/usr/bin/env python3
"""The unit of examples/systemd under a real systemd, on three machines (machines.py) that are set
up as its README says; what is done there is what README and OPERATIONS have.

usage: systemd_test.py BELLWETHER FLAG_OBSERVER [CASE...]; a case is Class.test_name
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from flag_observer import FlagObserver
from harness import wait_until
from machines import machines
from system_case import SystemCase, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = "/root/bellwether/examples"  # on the machines
NAMES = ("orders-0", "orders-1", "orders-2")
CONFIG, SECRET = "/etc/bellwether/bellwether.toml", "/etc/bellwether/secret"
CREDENTIAL = "/run/credentials/bellwether.service/secret"
STATE, FLAG = "/var/lib/bellwether", "/run/bellwether/orders"
STARTS = "/run/bellwether/.starts-bellwether.toml"
DROP_INS = "/etc/systemd/system/bellwether.service.d"
GROUP = f"""
[group]
name = "orders"
[node]
listen = "0.0.0.0:7946"
priority = %d
[tls]
secret_file = "{SECRET}"
[voters]
orders-0 = "orders-0:7946"
orders-1 = "orders-1:7946"
orders-2 = "orders-2:7946"
[election]
preempt_delay = "0s"
lease = "3s"
[failure_detector]
suspect_after = "2s"
"""
ALONE = f"""
[group]
name = "alone"
[node]
listen = "127.0.0.1:7946"
state_dir = "{STATE}/alone"
"""
APPLICATION = f"""
[Unit]
After=bellwether.service
Wants=bellwether.service
[Service]
User=orders
ExecStart=/usr/bin/python3 -u /opt/python/worker.py {FLAG} orders
"""
JOES = "/home/joe/sidecar"
OF_JOE = f"""
[group]
name = "joes"
[node]
listen = "127.0.0.1:7966"
state_dir = "{JOES}/state"
[api]
listen = "127.0.0.1:4060"
[metrics]
listen = "127.0.0.1:9484"
"""
# joe logs in, and out with the end of the command.
SESSION = """busctl --quiet call org.freedesktop.login1 /org/freedesktop/login1 \
  org.freedesktop.login1.Manager CreateSession 'uusssssussbssa(sv)' \
  $(id -u joe) 0 test tty user '' '' 0 '' '' false '' '' 0"""
PLUGIN, SLOW_CALLS = "/usr/lib/bellwether/test.so", "/usr/lib/bellwether/slow_calls.so"
ATTACH = ["curl", "-sN", "-X", "POST", "http://127.0.0.1:4040/v1/application/attach"]
DRAIN_S = 3
# What an application sees, as another user than the sidecar.
TOKEN = f"""runuser -u orders -- /usr/bin/python3 -c '
import sys; sys.path.append("/opt/python")
import leader_flag; print(leader_flag.open_flag("{FLAG}").token())'"""
NO_DROP_IN = f"rm -r {DROP_INS}; systemctl daemon-reload"


def drop_in(line):
    """The command that makes one."""
    return (f"mkdir -p {DROP_INS}; printf '[Service]\\n{line}\\n' >{DROP_INS}/test.conf; "
            "systemctl daemon-reload")


# (exit status, what is wrong, what puts it right); the unit leaves these, and needs a start.
LEFT = (
    (2, drop_in("ExecStart=\\nExecStart=bellwether run --bogus"), NO_DROP_IN),
    (3, f"echo 'nonsense = 3' >>{CONFIG}", f"sed -i '$ d' {CONFIG}"),
    (5, f"sed -i 's/^.election./&\\nplugin = \"nope\"/' {CONFIG}", f"sed -i '/nope/ d' {CONFIG}"),
    (7, f"rm {FLAG}; mkdir {FLAG}", f"rmdir {FLAG}"),
    (7, f"sed -i 's/^orders-0 =/orders-9 =/' {CONFIG}",
     f"sed -i 's/^orders-9 =/orders-0 =/' {CONFIG}"),
)
# These it starts again.
AGAIN = (
    (1, f"chmod 000 {CONFIG}", f"chmod 644 {CONFIG}"),
    (6, "systemd-run --quiet --unit thief /usr/bin/python3 -m http.server 7946; sleep 0.5",
     "systemctl stop thief"),
    (9, f"mount -t tmpfs -o size=16k,mode=700,uid=bellwether none {STATE}; "
     f"head -c 16k /dev/zero >{STATE}/ballast", f"umount {STATE}"),
)


def block(document, beginning):
    """The commands of the first block of a text that has this."""
    return next(found for found in re.findall(r"```sh\n(.*?)```", (ROOT / document).read_text(),
                                              re.DOTALL) if beginning in found)


class Systemd(SystemCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = cls.enterClassContext(machines(*NAMES))
        secret = ""
        for machine in cls.machines:
            secret = cls.install(machine, secret)
        cls.flags = FlagObserver(cls.observer, [machine.path(FLAG) for machine in cls.machines])
        cls.addClassCleanup(cls.flags.close)

    @classmethod
    def install(cls, machine, secret):
        """As the README says, with a program that is built; returns the group's secret."""
        shutil.copytree(ROOT / "examples", machine.path(EXAMPLES))
        shutil.copytree(ROOT / "examples/apps/python", machine.path("/opt/python"))
        program = pathlib.Path(cls.program)
        shutil.copy(program, machine.path("/usr/bin/bellwether"))
        shutil.copytree(program.parents[1] / "lib/bellwether",
                        machine.path("/usr/lib/bellwether"), dirs_exist_ok=True)
        shutil.copy(os.environ["BELLWETHER_TEST_WAITING_PLUGIN"], machine.path(PLUGIN))
        shutil.copy(os.environ["BELLWETHER_TEST_SLOW_CALLS"], machine.path(SLOW_CALLS))
        before, after = block("examples/systemd/README.md", "systemd-sysusers").split(
            "bellwether keygen")
        machine.sh("getent passwd orders || useradd --system orders; chmod -R a+rX /opt/python")
        machine.sh(f"cd {EXAMPLES}/systemd\n" + "\n".join(
            line for line in before.splitlines() if "cmake" not in line))
        cls.configure(machine)
        if secret:
            machine.sh(f"umask 077; echo {secret} >{SECRET}")
        machine.sh(("true " if secret else "bellwether keygen ") + after)
        return machine.path(SECRET).read_text().split()[-1]

    def tearDown(self):
        self.assertEqual(self.flags.doubles, [])

    @staticmethod
    def configure(machine, extra=""):
        """Priorities rise, so the last one leads."""
        machine.path(CONFIG).write_text(GROUP % (100 + NAMES.index(machine.name)) + extra)

    # --- what is seen ---

    def status(self, machine):
        text = machine.run("curl", "-s", "http://127.0.0.1:4040/v1/status").stdout
        return json.loads(text) if text else {}

    def is_whole(self):
        found = [self.status(machine) for machine in self.machines]
        return all(each.get("is_ready") and each["vote"]["state"] == "in force" and
                   (each["leader"] or {}).get("name") == NAMES[-1] for each in found)

    def whole(self):
        """The leader, and the others, once all is well."""
        wait_until("the group is whole", self.is_whole)
        return self.machines[::-1]

    def await_service(self, machine, **wanted):
        wait_until(f"{machine.name}'s service is {wanted}",
                   lambda: machine.has("bellwether", **wanted))

    def await_journal(self, machine, unit, text):
        wait_until(f"{unit} of {machine.name} says {text}", lambda: text in machine.sh(
            f"journalctl -u {unit} --since '1 hour ago' --no-pager"))

    def start(self, machine, what="start"):
        """Its exit status; nothing of ours may take long."""
        begin_s = time.monotonic()
        result = machine.run("systemctl", what, "bellwether")
        self.assertLess(time.monotonic() - begin_s, 30)
        return result.returncode

    def kill(self, machine, number):
        """Returns how often it has been started again before."""
        before = int(machine.show("bellwether", "NRestarts"))
        machine.sh(f"kill -{number} {machine.show('bellwether', 'MainPID')}")
        return before

    # --- cases ---

    def test_it_is_started_and_its_flag_read(self):
        leader, *others = self.whole()
        for machine in self.machines:
            self.assertEqual(machine.sh("systemctl is-enabled bellwether"), "enabled\n")
            self.await_service(machine, ActiveState="active", StatusText="ready")
            limits = machine.sh(f"cat /proc/{machine.show('bellwether', 'MainPID')}/limits")
            self.assertRegex(limits, r"Max open files +4096 ")  # it has raised it by itself
        self.assertRegex(leader.sh(TOKEN), r"^\d+\n$")
        self.assertEqual(others[0].sh(TOKEN), "None\n")
        # By its socket, which the application's user reaches, and which allow_users believes.
        text = '[api]\nsocket = "/run/bellwether/api.sock"\nwrites = "socket"\n' \
               'allow_users = ["orders"]\n'
        self.configure(others[0], text)
        self.assertEqual(self.start(others[0], "restart"), 0)
        self.whole()
        command = f"runuser -u %s -- bellwether reload --config {CONFIG}"
        self.assertNotEqual(others[0].run("sh", "-c", command % "nobody").returncode, 0)
        others[0].sh(command % "orders")
        self.configure(others[0])
        self.assertEqual(self.start(others[0], "restart"), 0)

    def test_one_that_is_killed_is_started_again_under_its_application(self):
        leader, *_ = self.whole()
        inode = leader.path(FLAG).stat().st_ino
        leader.path("/etc/systemd/system/application.service").write_text(APPLICATION)
        leader.sh("systemctl daemon-reload && systemctl start application")
        application = leader.show("application", "MainPID")
        self.await_journal(leader, "application", " works ")
        before = self.kill(leader, signal.SIGKILL)
        self.await_service(leader, NRestarts=before + 1, ActiveState="active")
        self.await_journal(leader, "application", " stopped ")
        self.assertEqual(leader.path(FLAG).stat().st_ino, inode)
        self.assertEqual(leader.show("application", "MainPID"), application)
        leader.sh("systemctl stop application")
        self.whole()

    def test_ends_and_hangs(self):
        """What the unit starts again, and what it leaves."""
        _, machine, hangs = self.whole()
        before = self.kill(hangs, signal.SIGSTOP)
        for code, trouble, repair in (*LEFT, *AGAIN):
            with self.subTest(code=code, trouble=trouble):
                machine.sh(f"systemctl stop bellwether; {trouble}")
                is_left = (code, trouble, repair) in LEFT
                self.start(machine)
                self.await_service(machine, ExecMainStatus=code,
                                   SubState="failed" if is_left else "auto-restart")
                machine.sh(repair)
                if is_left and code != 2:  # which is known before anything is counted
                    self.assertEqual(machine.path(STARTS).stat().st_size, 1)
                if is_left:
                    self.assertEqual(self.start(machine), 0)
                self.await_service(machine, ActiveState="active")
        machine.sh(f"mv {CONFIG} {CONFIG}.away")
        self.assertEqual(self.start(machine, "restart"), 0)
        self.await_service(machine, ActiveState="inactive", Result="success")
        # One that is wrong about itself.
        machine.path(CONFIG).write_text(f'{ALONE}[election]\nplugin = "{PLUGIN}"\n')
        self.assertEqual(self.start(machine), 0)
        wait_until("it leads", lambda: self.status(machine).get("role") == "leading")
        machine.run("bellwether", "elect")
        self.await_service(machine, ExecMainStatus=8, SubState="auto-restart")
        self.await_service(machine, NRestarts=1, ActiveState="active")
        machine.sh(f"systemctl stop bellwether; rm -r {STATE}/alone; mv {CONFIG}.away {CONFIG}")
        self.assertEqual(self.start(machine), 0)
        self.await_service(hangs, NRestarts=before + 1, ActiveState="active")
        self.await_journal(hangs, "bellwether", "Watchdog timeout")
        self.whole()

    def test_a_state_that_root_deletes_is_systemds_to_make_and_no_older_copy_serves(self):
        leader, *_ = self.whole()
        for done, told in ((f"cp -a {STATE} /old; rm -r {STATE}; mv /old {STATE}", "empty it"),
                           (f"rm -r {STATE}", "only systemd can make it"), ("true", "status=9")):
            leader.sh(done)
            self.await_journal(leader, "bellwether", told)
        self.whole()

    def test_in_a_crash_loop_it_is_started_ever_more_rarely(self):
        _, machine, _ = self.whole()
        machine.sh(f"systemctl stop bellwether; chmod 000 {CONFIG}")
        self.start(machine)
        wait_until("it waits", lambda: re.fullmatch(
            r"has been started \d+ times, each time soon after the last; waits (8|16)s .*",
            machine.show("bellwether", "StatusText")))
        self.await_service(machine, ActiveState="activating")
        machine.sh(f"systemctl stop bellwether; chmod 644 {CONFIG}")
        self.await_service(machine, ActiveState="inactive", Result="success")
        self.assertEqual(self.start(machine), 0)
        self.assertEqual(machine.path(STARTS).stat().st_size, 1)
        self.whole()

    def test_a_watchdog_ends_neither_the_wait_nor_the_start_after_it(self):
        """It would begin anew each time, for ever, however much is repaired meanwhile."""
        _, machine, _ = self.whole()
        machine.sh(f"systemctl stop bellwether; chmod 000 {CONFIG}")
        # Which begins with the process; and the disk is slow.
        machine.sh(drop_in("Type=simple\\nWatchdogSec=1s\\n"
                           f"Environment=LD_PRELOAD={SLOW_CALLS} SLOW_SYNC_MS=2500"))
        self.start(machine)
        wait_until("it waits", lambda: "waits 4s" in machine.show("bellwether", "StatusText"))
        machine.sh(f"chmod 644 {CONFIG}")
        process = machine.show("bellwether", "MainPID")
        self.await_service(machine, StatusText="ready", WatchdogUSec="1s")
        self.assertEqual(machine.show("bellwether", "MainPID"), process)
        machine.sh(NO_DROP_IN)
        self.assertEqual(self.start(machine, "restart"), 0)
        self.whole()

    def test_what_a_start_waits_for_does_not_end_it(self):
        _, machine, _ = self.whole()
        machine.sh(f"mv {SECRET} {SECRET}.away")
        self.assertEqual(self.start(machine, "restart"), 0)
        self.await_service(machine, ActiveState="active", StatusText=(
            f"not ready: [tls] is not in force: tls.secret_file {SECRET} cannot be read: "
            "No such file or directory; put it there, or correct the path"))
        machine.sh(f"mv {SECRET}.away {SECRET}")
        self.whole()
        # Root's own, as a credential.
        machine.sh(drop_in(f"LoadCredential=secret:{SECRET}"))
        machine.sh(f"chown root: {SECRET}")
        text = machine.path(CONFIG).read_text()
        machine.path(CONFIG).write_text(text.replace(SECRET, CREDENTIAL))
        self.assertEqual(self.start(machine, "restart"), 0)
        self.whole()
        machine.sh(f"{NO_DROP_IN}; chown bellwether: {SECRET}")
        self.configure(machine)
        self.assertEqual(self.start(machine, "restart"), 0)

    def test_its_folder_is_removed(self):
        *_, machine = self.whole()
        machine.sh("rm -r /run/bellwether")
        wait_until("it says so", lambda: machine.show("bellwether", "StatusText").endswith(
            "if its folder was mounted, by systemd or in a container, restart the sidecar"))
        self.assertEqual(self.start(machine, "restart"), 0)
        self.whole()

    def test_reload(self):
        _, machine, _ = self.whole()
        self.configure(machine, "[")
        machine.sh("systemctl reload bellwether")
        self.await_journal(machine, "bellwether", "refused a new configuration")
        self.assertEqual(machine.run("bellwether", "reload").returncode, 3)
        self.configure(machine, '[log]\nlevel = "debug"\n')
        machine.sh("systemctl reload bellwether")
        self.await_journal(machine, "bellwether", "configuration changed")
        machine.sh("systemctl kill -s USR1 bellwether")
        self.await_journal(machine, "bellwether", " state status=")
        self.configure(machine)
        machine.sh("bellwether reload")

    def drain(self, machine):
        """Stops it while an application has not finished; how long that took, in seconds."""
        with subprocess.Popen(machine.inside(*ATTACH), stdout=subprocess.DEVNULL) as application:
            wait_until("it is attached", lambda: self.status(machine)["application"]["attached"])
            begin_s = time.monotonic()
            machine.sh("systemctl stop bellwether")
            application.wait()
        return time.monotonic() - begin_s

    def test_a_stop_is_as_patient_as_the_unit(self):
        leader, *_ = self.whole()
        self.configure(leader, f'[application]\ndrain_timeout = "{DRAIN_S}s"\n')
        leader.sh("bellwether reload")
        leader.sh(drop_in("TimeoutStopSec=1s"))
        self.drain(leader)
        self.await_service(leader, ActiveState="failed", Result="timeout")
        self.assertEqual(self.start(leader), 0)
        self.whole()
        leader.sh(NO_DROP_IN)
        leader.sh(block("sidecar/OPERATIONS.md", "TimeoutStopSec"))
        self.assertGreaterEqual(self.drain(leader), DRAIN_S)
        self.await_service(leader, ActiveState="inactive", Result="success", ExecMainStatus=0,
                           StatusText="leaving the group")
        leader.sh(NO_DROP_IN)
        self.configure(leader)
        self.assertEqual(self.start(leader), 0)

    def test_an_option_for_one_start(self):
        _, machine, _ = self.whole()

        def command_line():
            return machine.sh("cat /proc/$(systemctl show -p MainPID --value bellwether)/cmdline")
        machine.sh(block("sidecar/OPERATIONS.md", "once.conf"))
        self.assertIn("--forget-promises", command_line())
        self.assertEqual(self.start(machine, "restart"), 0)
        self.assertNotIn("--forget-promises", command_line())

    def test_several_groups_on_one_host(self):
        machine = self.machines[0]
        unit = machine.path("/etc/systemd/system/bellwether.service").read_text()
        for old, new in ((CONFIG, "/etc/bellwether/%i.toml"),
                         ("Directory=bellwether", "Directory=%i")):
            self.assertIn(old, unit)
            unit = unit.replace(old, new)
        machine.path("/etc/systemd/system/bellwether@.service").write_text(unit)
        machine.path("/etc/bellwether/reports.toml").write_text("""
[group]
name = "reports"
[node]
listen = "127.0.0.1:7956"
state_dir = "/var/lib/reports"
[api]
listen = "127.0.0.1:4050"
[metrics]
listen = "127.0.0.1:9474"
[flag]
path = "/run/reports/flag"
""")
        machine.sh("systemctl daemon-reload && systemctl start bellwether@reports")
        wait_until("it leads", lambda: " leads, epoch 1" in machine.sh(
            "bellwether status --config /etc/bellwether/reports.toml"))
        machine.sh("systemctl stop bellwether@reports; test -e /run/reports/flag")

    def test_what_logind_removes_is_made_again(self):
        """A flag in /dev/shm, of an ordinary user's sidecar, and what the doctor advises."""
        machine = self.machines[0]
        machine.sh(f"useradd --create-home joe; install -d -o joe {JOES}; printf "
                   "'[Login]\\nUserStopDelaySec=0\\n' >/etc/systemd/logind.conf; "
                   "systemctl restart systemd-logind")
        machine.path(f"{JOES}/toml").write_text(OF_JOE)
        log = self.machines[0].folder / "joe"
        with open(log, "wb") as output, subprocess.Popen(
                machine.inside("runuser", "-u", "joe", "--", "bellwether", "run", "--config",
                               f"{JOES}/toml"), stdout=output, stderr=output) as sidecar:
            wait_until("it leads", lambda: "this node leads" in log.read_text())

            def doctor():
                return machine.run("bellwether", "doctor", "--config", f"{JOES}/toml").stdout
            self.assertIn("and restart systemd-logind", doctor())
            machine.sh(SESSION)
            wait_until("it is made again", lambda: "flag's file was removed" in log.read_text())
            machine.sh("echo RemoveIPC=no >>/etc/systemd/logind.conf; "
                       "systemctl restart systemd-logind")
            self.assertNotIn("systemd-logind", doctor())
            machine.sh(SESSION)
            wait_until("joe is out", lambda: "joe" not in machine.sh("loginctl list-users"))
            self.assertEqual(log.read_text().count("flag's file was removed"), 1)
            machine.sh("pkill -x -u joe bellwether")
            sidecar.wait()

    def test_when_the_host_is_shut_down_another_leads(self):
        """The last case: that host is gone."""
        leader, other, _ = self.whole()
        leader.run("systemctl", "poweroff")
        wait_until("it has left", lambda: "left" in re.search(
            rf"(?m)^{leader.name} +(\w+)", other.sh("bellwether status"))[1])
        wait_until("another one leads", lambda: (self.status(other)["leader"] or {}).get("name")
                   not in (None, leader.name))


if __name__ == "__main__":
    main()
