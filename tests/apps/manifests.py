"""The objects of examples/kubernetes, as Kubernetes would read them."""

import languages

try:
    import yaml
except ImportError:
    yaml = None

KUBERNETES = languages.ROOT / "examples/kubernetes"


def objects(pattern="*.yaml"):
    """All manifests but the patches."""
    for path in sorted(KUBERNETES.glob(pattern)):
        if not path.stem.endswith("-patch"):
            yield from filter(None, yaml.safe_load_all(path.read_text()))


def of_kind(*kinds):
    return [manifest for manifest in objects() if manifest["kind"] in kinds]


def named(manifests, name):
    found, = [manifest for manifest in manifests if manifest["metadata"]["name"] == name]
    return found


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def as_applied(path):
    """The objects of a file, patches too."""
    return list(filter(None, yaml.safe_load_all(path.read_text())))


def toml_of(workload):
    name = workload["metadata"]["name"]
    return named(of_kind("ConfigMap"), f"{name}-bellwether")["data"]["bellwether.toml"]
