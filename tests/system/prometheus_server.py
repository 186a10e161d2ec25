"""A Prometheus server of Debian's, which scrapes a group once a second; a context manager.  It is
on loopback, or beside the group on a host of its own (namespaces.py)."""

import http.client
import json
import math
import shutil
import subprocess
import time
import urllib.parse

from harness import PATIENCE_S, free_ports, wait_until


def is_installed():
    return shutil.which("prometheus") is not None


class Refused(Exception):
    """What Prometheus says of a query that it does not understand."""


class Prometheus:
    """`rule_files` are loaded and evaluated once a second.  With hosts, it is on the last one of
    them, which must be no sidecar's."""

    def __init__(self, group, rule_files, hosts=None, port=None):
        self.hosts = hosts
        self.folder = group.folder / "prometheus"
        self.log_file = self.folder / "log"
        self.port = port or free_ports(1)[0]
        self.folder.mkdir()
        (self.folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s",
                       "evaluation_interval": "1s"},
            "rule_files": [str(file) for file in rule_files],
            "scrape_configs": [{"job_name": "bellwether", "static_configs": [{
                "labels": {"namespace": "shop"},  # as in Kubernetes
                "targets": [f"{sidecar.address}:{sidecar.metrics_port}"
                            for sidecar in group.sidecars]}]}],
        }))

    def __enter__(self):
        self.began_s = time.time()
        with open(self.log_file, "wb") as log:
            self.process = subprocess.Popen(
                [*self.prefix(), "prometheus", f"--config.file={self.folder}/prometheus.yml",
                 f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until("Prometheus answers", self.is_ready)
        return self

    def __exit__(self, kind, error, trace):
        self.process.terminate()
        self.process.wait(PATIENCE_S)
        if kind is not None:
            print(f"--- log of Prometheus\n{self.log_file.read_text()[-3000:]}")

    def is_ready(self):
        try:
            return self.get("/-/ready")[0] == 200
        except OSError:
            return False

    def prefix(self):
        return self.hosts.command_prefix(len(self.hosts.names) - 1) if self.hosts else []

    def get(self, path):
        """(status, body)"""
        if self.hosts:
            result = subprocess.run(
                [*self.prefix(), "curl", "--silent", "--max-time", str(PATIENCE_S), "--write-out",
                 "%{stderr}%{http_code}", f"http://127.0.0.1:{self.port}{path}"],
                capture_output=True, check=False)
            return int(result.stderr), result.stdout
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def api(self, path, **parameters):
        """The data of an answer."""
        _, body = self.get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
        answer = json.loads(body)
        if answer["status"] != "success":
            raise Refused(answer["error"])
        return answer["data"]

    def now(self, expression):
        """[(labels, value)] of all series; those that are not a number are left out."""
        data = self.api("query", query=expression)
        result = [{"metric": {}, "value": data["result"]}] if data["resultType"] == "scalar" \
            else data["result"]
        return [(series["metric"], float(series["value"][1])) for series in result
                if math.isfinite(float(series["value"][1]))]

    def since_start(self, expression):
        """The same over time, a step each second: [(labels, [values])].  The last step is not
        before the last scrape."""
        data = self.api("query_range", query=expression, start=self.began_s, end=time.time() + 1,
                        step="1s")
        found = []
        for series in data["result"]:
            values = [value for _, value in series["values"] if math.isfinite(float(value))]
            if values:
                found.append((series["metric"], values))
        return found

    def await_now(self, expression):
        """Waits until the last scrape makes the condition true."""
        wait_until(f"Prometheus sees {expression}", lambda: self.now(expression))
