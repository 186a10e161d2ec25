"""Real stores for tests, each a context manager in a folder of its own: etcd, alone or as a
cluster, and an API server of Kubernetes with TLS, RBAC and service accounts in front of one.

The latter is taken from KUBEBUILDER_ASSETS (envtest's convention) or PATH.  BELLWETHER_TEST_KUBE
may name a folder with an `up.sh FOLDER PORT` that starts one instead, and `up.sh FOLDER down` ends
it; so may a folder `*/tools/kube` beside the checkout.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request

from certificates import openssl
from harness import free_ports, wait_until

LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"


def has_etcd():
    return shutil.which("etcd") is not None and shutil.which("etcdctl") is not None


def kube_apiserver():
    """Its path, or None."""
    in_assets = pathlib.Path(os.environ.get("KUBEBUILDER_ASSETS", "/nowhere")) / "kube-apiserver"
    return str(in_assets) if in_assets.exists() else shutil.which("kube-apiserver")


def kube_folder():
    """The folder with an up.sh, or None."""
    named = os.environ.get("BELLWETHER_TEST_KUBE")
    if named:
        return pathlib.Path(named) if (pathlib.Path(named) / "up.sh").exists() else None
    checkout = pathlib.Path(__file__).resolve().parents[2]
    return next((script.parent for script in checkout.parent.glob("*/tools/kube/up.sh")), None)


def has_kubernetes():
    return has_etcd() and (kube_apiserver() is not None or kube_folder() is not None)


def end(process):
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGCONT)
        process.kill()
    process.wait()


def cluster_of(peers):
    """As --initial-cluster has it."""
    return ",".join(f"n{number}={peer}" for number, peer in enumerate(peers))


class EtcdMember:
    """`peer` is where the others reach it; `prefix` makes a command run on its host."""

    def __init__(self, folder, name, client_port, peer, cluster, options=(), prefix=()):
        self.url = f"http{'s' if options else ''}://127.0.0.1:{client_port}"
        self.command = [
            *prefix, "etcd", "--name", name, "--data-dir", f"{folder}/{name}", "--unsafe-no-fsync",
            "--listen-client-urls", self.url, "--advertise-client-urls", self.url,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", cluster, *options]
        self.log = f"{folder}/{name}.log"
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)

    def kill(self):
        end(self.process)

    def is_leader(self):
        """None: nobody knows."""
        try:
            status = self.post("/v3/maintenance/status", {}, timeout_s=2)
        except OSError:
            return None
        return status.get("leader") == status["header"]["member_id"] and "leader" in status

    def is_healthy(self):
        with contextlib.suppress(OSError, ValueError):
            if self.url.startswith("https"):  # by its log: nobody here has the authority at hand
                return b"ready to serve" in pathlib.Path(self.log).read_bytes()
            with urllib.request.urlopen(self.url + "/health", timeout=2) as answer:
                return json.load(answer).get("health") == "true"
        return False

    def handled(self, method, state="handled"):
        """How many requests of clients it has carried out, or has been told ("started"), since it
        was started, as it says itself."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines
                   if line.startswith(f"grpc_server_{state}_total{{") and
                   f'grpc_method="{method}"' in line and
                   ('grpc_code="OK"' in line or state == "started"))

    def post(self, path, body, timeout_s=10):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            return json.load(answer)


class Etcd:
    """A cluster of `size` members; with an Authority they speak TLS to clients."""

    def __init__(self, size=1, authority=None):
        self.folder = tempfile.TemporaryDirectory(prefix="etcd.")
        ports = free_ports(2 * size)
        peers = [f"http://127.0.0.1:{port}" for port in ports[size:]]
        options = () if authority is None else self.tls_options(authority)
        self.members = [EtcdMember(self.folder.name, f"n{i}", ports[i], peers[i], cluster_of(peers),
                                   options) for i in range(size)]

    def tls_options(self, authority):
        """The gateway is a client of the server itself, with the same certificate."""
        certificate, key = authority.issue(
            ["IP:127.0.0.1"], extensions=["extendedKeyUsage=serverAuth,clientAuth"])
        files = [pathlib.Path(self.folder.name) / name for name in ("tls.crt", "tls.key")]
        files[0].write_text(certificate)
        files[1].write_text(key)
        return ["--cert-file", files[0], "--key-file", files[1]]

    def __enter__(self):
        for member in self.members:
            member.start()
        wait_until("etcd is healthy", lambda: all(m.is_healthy() for m in self.members))
        return self

    def __exit__(self, *_):
        for member in self.members:
            end(member.process)
        self.folder.cleanup()

    @property
    def urls(self):
        return [member.url for member in self.members]

    def leader(self):
        return wait_until("etcd has a leader", lambda: next(
            (m for m in self.members if m.process.poll() is None and m.is_leader()), None))

    def ctl(self, *arguments, user=None):
        as_user = ["--user", user] if user else []
        command = ["etcdctl", "--endpoints", ",".join(self.urls), *as_user, *arguments]
        return subprocess.run(command, check=True, text=True, capture_output=True,
                              env={**os.environ, "ETCDCTL_API": "3"}).stdout


class Kubernetes:
    """An API server, asked as an administrator by request()."""

    ADMIN = "admin-token-of-a-test"

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="kube.")
        self.folder = pathlib.Path(self.scratch.name)
        self.pki = self.folder / "pki"
        self.ca = self.pki / "ca.crt"
        self.admin = self.ADMIN
        self.port = 0
        self.etcd = self.process = None

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def __enter__(self):
        try:
            if kube_apiserver() is None:
                self.start_by_script()
            else:
                self.etcd = Etcd().__enter__()
                self.port = free_ports(1)[0]
                self.make_pki()
                self.start()
            self.request("POST", "/api/v1/namespaces", {"metadata": {"name": "shop"}})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process is not None:
            end(self.process)
        if self.etcd is not None:
            self.etcd.__exit__()
        elif kube_folder() is not None:
            with contextlib.suppress(OSError, ValueError):
                if self.process is None:
                    os.kill(self.pid(), signal.SIGKILL)  # asked, it waits for its watches to end
            subprocess.run([kube_folder() / "up.sh", self.folder, "down"], check=False)
            self.await_end("api")
            self.await_end("etcd")
        self.scratch.cleanup()

    def start_by_script(self):
        # Three ports one after the other; somebody else may take one meanwhile.
        for _ in range(5):
            port = next(port for port in free_ports(20) if port < 65000)
            result = subprocess.run([kube_folder() / "up.sh", self.folder, str(port)], text=True,
                                    capture_output=True, check=False)
            if result.returncode == 0:
                self.port, self.admin = port, "admintoken"
                return
            subprocess.run([kube_folder() / "up.sh", self.folder, "down"], check=False)
        raise RuntimeError(f"no API server: {result.stdout}{result.stderr}")

    def await_end(self, name):
        """Of a process that up.sh has started."""
        with contextlib.suppress(OSError, ValueError):
            pid = int((self.folder / f"{name}.pid").read_text())
            wait_until(f"{name} has ended", lambda: not pathlib.Path(f"/proc/{pid}/exe").exists())

    def make_pki(self):
        self.pki.mkdir()
        pki = self.pki
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", pki / "ca.key", "-out", self.ca, "-days", 2, "-subj", "/CN=test-ca")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                pki / "api.key", "-out", pki / "api.csr", "-subj", "/CN=kube-apiserver")
        (pki / "ext").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n"
                                 "extendedKeyUsage=serverAuth\n")
        openssl("x509", "-req", "-in", pki / "api.csr", "-CA", self.ca, "-CAkey", pki / "ca.key",
                "-CAcreateserial", "-out", pki / "api.crt", "-days", 2, "-extfile", pki / "ext")
        openssl("genrsa", "-out", pki / "sa.key", 2048)
        openssl("rsa", "-in", pki / "sa.key", "-pubout", "-out", pki / "sa.pub")
        (pki / "tokens.csv").write_text(f'{self.ADMIN},admin,1,"system:masters"\n')

    def pid(self):
        if self.process is not None:
            return self.process.pid
        return int((self.folder / "api.pid").read_text())

    def send_signal(self, number):
        """Of SIGSTOP: it stands still when this returns."""
        os.kill(self.pid(), number)
        if number == signal.SIGSTOP:
            threads = pathlib.Path(f"/proc/{self.pid()}/task")
            wait_until("all its threads stand still", lambda: all(
                " T " in stat.read_text() for stat in threads.glob("*/stat")))

    def restart(self):
        """Killed, and started again with the same arguments, on the same etcd."""
        place = pathlib.Path(f"/proc/{self.pid()}")
        command = (place / "cmdline").read_text().split("\0")[:-1]
        program, folder = (place / "exe").readlink(), (place / "cwd").readlink()
        os.kill(self.pid(), signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
        wait_until("it has ended", lambda: not (place / "exe").exists())
        with open(self.folder / "api.log", "ab") as log:
            self.process = subprocess.Popen([program, *command[1:]], cwd=folder, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL)
        wait_until("the API server is ready", self.is_ready)

    def start(self):
        """Only of a server that was found as a program."""
        pki = self.pki
        with open(self.folder / "api.log", "ab") as log:
            self.process = subprocess.Popen(
                [kube_apiserver(), "--bind-address=127.0.0.1", f"--secure-port={self.port}",
                 "--advertise-address=127.0.0.1", f"--etcd-servers={self.etcd.urls[0]}",
                 f"--tls-cert-file={pki}/api.crt", f"--tls-private-key-file={pki}/api.key",
                 f"--client-ca-file={self.ca}", f"--token-auth-file={pki}/tokens.csv",
                 "--authorization-mode=RBAC", "--service-cluster-ip-range=10.96.0.0/16",
                 "--service-account-issuer=https://kubernetes.default.svc",
                 f"--service-account-key-file={pki}/sa.pub",
                 f"--service-account-signing-key-file={pki}/sa.key", f"--cert-dir={pki}"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait_until("the API server is ready", self.is_ready)

    def is_ready(self):
        with contextlib.suppress(OSError):
            return self.request("GET", "/readyz") is not None
        return False

    def request(self, method, path, body=None, kind="application/json"):
        """The answer, of a text as it is.  Raises urllib.error.HTTPError for another status."""
        request = urllib.request.Request(self.url + path, method=method, headers={
            "Authorization": f"Bearer {self.admin}", "Content-Type": kind},
            data=None if body is None else json.dumps(body).encode())
        context = ssl.create_default_context(cafile=self.ca)
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            text = answer.read().decode()
        return json.loads(text) if text.startswith("{") else text

    def lease(self, name, namespace="shop"):
        """As it stands there; None: there is none."""
        try:
            return self.request("GET", f"{LEASES.format(namespace)}/{name}")
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def patch_lease(self, name, patch, namespace="shop"):
        return self.request("PATCH", f"{LEASES.format(namespace)}/{name}", patch,
                            "application/merge-patch+json")

    def delete_lease(self, name, namespace="shop"):
        self.request("DELETE", f"{LEASES.format(namespace)}/{name}")

    def service_account(self, name, namespace="shop"):
        """A token of a new one, which may do nothing yet."""
        accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        self.request("POST", accounts, {"metadata": {"name": name}})
        return self.token(name, namespace)

    def token(self, account, namespace="shop"):
        answer = self.request(
            "POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token",
            {"spec": {"expirationSeconds": 3600}})
        return answer["status"]["token"]

    def grant(self, account, rules, namespace="shop"):
        """A Role of these rules, and its RoleBinding."""
        api = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        self.request("POST", f"{api}/roles", {"metadata": {"name": account}, "rules": rules})
        self.request("POST", f"{api}/rolebindings", {
            "metadata": {"name": account},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": account},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}]})


def lease_rules(lease_name):
    """What a group needs, and no more."""
    return [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
             "resourceNames": [lease_name], "verbs": ["get", "watch", "patch"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]}]
