"""Authorities and certificates as an operator makes them: by the openssl program."""

import datetime
import pathlib
import subprocess
import tempfile

DAY = 86400


def openssl(*arguments, text=""):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, text=True,
                   input=text)


def make_key(kind, file):
    algorithm, option = (("RSA", f"rsa_keygen_bits:{kind[4:]}") if kind.startswith("RSA-") else
                         ("EC", f"ec_paramgen_curve:{kind}"))
    openssl("genpkey", "-algorithm", algorithm, "-pkeyopt", option, "-out", file)


def moment(seconds):
    """So many from now, as openssl-ca writes it."""
    when = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return when.strftime("%Y%m%d%H%M%SZ")


class Authority:
    """One that signs certificates, in a folder of its own."""

    def __init__(self, folder, name="authority"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}.", dir=folder))
        self.key, self.certificate = self.folder / "ca.key", self.folder / "ca.crt"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", self.key, "-out", self.certificate, "-subj", f"/CN={name}", "-days", 30,
                "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def pem(self):
        return self.certificate.read_text()

    def issue(self, names, days=1, key="P-256", extensions=(), private=None, seconds=None,
              begins_s=None, common_name="leaf"):
        """(certificate, key) in PEM, for names like "DNS:a.b" and "URI:spiffe://a/b".  `days` may
        be negative: it is over.  `key` is a curve, or "RSA-1024"; `private` is a file with one,
        else there is a new one.  `seconds` instead of days: it is over so soon; `begins_s`: and
        begins in so many."""
        number = len(list(self.folder.iterdir()))
        base = self.folder / f"leaf{number}"
        request, leaf = base.with_suffix(".csr"), base.with_suffix(".crt")
        if private is None:
            private = base.with_suffix(".key")
            make_key(key, private)
        openssl("req", "-new", "-key", private, "-out", request, "-subj", f"/CN={common_name}")
        options = base.with_suffix(".ext")
        options.write_text("\n".join([
            f"subjectAltName={','.join(names)}" if names else "",
            *(extensions or ("basicConstraints=critical,CA:FALSE",
                             "keyUsage=critical,digitalSignature"))]) + "\n")
        if seconds is not None:
            self.sign_between(request, leaf, options, begins_s or 0, seconds)
        else:
            openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                    "-CAcreateserial", "-out", leaf, "-days", days, "-extfile", options, "-sha256")
        return leaf.read_text(), private.read_text()

    def sign_between(self, request, leaf, options, begins_s, ends_s):
        """By openssl-ca, which knows seconds."""
        (self.folder / "index").touch()
        settings = self.folder / "ca.cnf"
        settings.write_text(f"""[ca]
default_ca = one
[one]
database = {self.folder}/index
new_certs_dir = {self.folder}
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = optional
""")
        openssl("ca", "-batch", "-config", settings, "-in", request, "-out", leaf, "-notext",
                "-cert", self.certificate, "-keyfile", self.key, "-extfile", options,
                "-startdate", moment(begins_s), "-enddate", moment(ends_s))


class Identity:
    """The three files of one member, as its sidecar's [tls] names them."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.cert, self.key, self.ca = (self.folder / name
                                        for name in ("tls.crt", "tls.key", "ca.crt"))

    def write(self, path, text):
        """In place, as a helper does that knows no better."""
        path.touch(mode=0o600)
        path.write_text(text)

    def take(self, certificate, key, authorities):
        self.write(self.cert, certificate)
        self.write(self.key, key)
        self.write(self.ca, authorities)
        return self

    def table(self, mode="strict", members=None):
        lines = [f'cert = "{self.cert}"', f'key = "{self.key}"', f'ca = "{self.ca}"',
                 f'mode = "{mode}"']
        if members is not None:
            lines.append("members = [" + ", ".join(f'"{name}"' for name in members) + "]")
        return "[tls]\n" + "\n".join(lines)
