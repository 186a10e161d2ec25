"""Other people's programs, made of what foreign.sh has fetched."""

import functools
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
FOREIGN = pathlib.Path(os.environ.get("BELLWETHER_TEST_FOREIGN",
                                      pathlib.Path.home() / ".cache/bellwether-foreign"))
CONSUL = FOREIGN / "bullseye/usr/bin/consul"
GO_ROOT = FOREIGN / "trixie/usr/lib/go-1.24"
GO_PATH = FOREIGN / "trixie/usr/share/gocode"


def has_go(package):
    return GO_ROOT.exists() and (GO_PATH / "src" / package).exists()


@functools.cache
def go_program(name):
    """Of the folder of that name, built beside what it is made of; Go finds out whether that is
    needed.  The first time client_go takes minutes."""
    program = FOREIGN / name
    settings = {"GOROOT": GO_ROOT, "GOPATH": GO_PATH, "GO111MODULE": "off",
                "GOCACHE": FOREIGN / "go-cache", "CGO_ENABLED": "0"}
    subprocess.run([GO_ROOT / "bin/go", "build", "-o", program, HERE / name / "main.go"],
                   check=True, env={**os.environ, **settings})
    return program
