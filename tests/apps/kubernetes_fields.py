"""What the Kubernetes API knows of the objects in examples/kubernetes: the fields that these use,
and what each can hold.  Kubernetes itself drops a field that it does not know, with a warning at
best; here one is a complaint.

A field that is right but not in here is looked up in the API's reference
(kubernetes.io/docs/reference, for PodMonitor prometheus-operator.dev) and added.
"""

import re


def text(value):
    return isinstance(value, str) and value != ""


def truth(value):
    return isinstance(value, bool)


def number(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def port_number(value):
    return number(value) and 1 <= value <= 65535


def port_name(value):
    """As IANA has it: at most 15 characters, one a letter, no hyphen at an end or doubled."""
    return (text(value) and len(value) <= 15 and "--" not in value and
            re.fullmatch(r"(?=.*[a-z])[a-z0-9]([a-z0-9-]*[a-z0-9])?", value) is not None)


def port(value):
    return port_number(value) or port_name(value)


def quantity(value):
    """Of memory and CPU; a plain number of bytes is right for Kubernetes, and never meant here."""
    return text(value) and re.fullmatch(r"[1-9][0-9]*(m|[kMGT]i?)", value) is not None


def duration(value):
    return text(value) and re.fullmatch(r"[1-9][0-9]*(ms|s|m|h)", value) is not None


def name(value):
    """Of an object, a container or a volume."""
    return (text(value) and len(value) <= 63 and
            re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", value) is not None)


def object_name(value):
    """Of a ConfigMap or a Lease, which may have dots."""
    return text(value) and all(name(part) for part in value.split("."))


def folder(value):
    return text(value) and value.startswith("/")


def one_of(*values):
    def is_one(value):
        return value in values and isinstance(value, str)
    is_one.__name__ = " or ".join(values)
    return is_one


class Texts:  # pylint: disable=too-few-public-methods
    """An object whose fields have any name, and text: labels, annotations, a ConfigMap's data."""


# An object is a dict of its fields; a list has the one kind of its elements.
TEXTS = Texts()
SELECTOR = {"matchLabels": TEXTS}
VERBS = ("get", "list", "watch", "create", "update", "patch", "delete")
RBAC = "rbac.authorization.k8s.io"
METADATA = {"name": name, "labels": TEXTS, "annotations": TEXTS}
RESOURCES = {"cpu": quantity, "memory": quantity, "storage": quantity}
SECCOMP_PROFILE = {"type": one_of("RuntimeDefault", "Localhost", "Unconfined")}

PROBE = {
    "httpGet": {"path": folder, "port": port},
    "periodSeconds": number,
    "failureThreshold": number,
}
CONTAINER = {
    "name": name,
    "image": text,
    "args": [text],
    "restartPolicy": one_of("Always"),  # of init containers only
    "env": [{"name": text, "valueFrom": {"fieldRef": {
        "fieldPath": one_of("metadata.name", "metadata.namespace", "status.podIP")}}}],
    "ports": [{"name": port_name, "containerPort": port_number}],
    "startupProbe": PROBE,
    "readinessProbe": PROBE,
    "livenessProbe": PROBE,
    "lifecycle": {"preStop": {"exec": {"command": [text]}}},
    "resources": {"requests": RESOURCES, "limits": RESOURCES},
    "securityContext": {
        "allowPrivilegeEscalation": truth,
        "readOnlyRootFilesystem": truth,
        "capabilities": {"drop": [text]},
    },
    "volumeMounts": [{"name": name, "mountPath": folder, "readOnly": truth}],
}
POD_TEMPLATE = {
    "metadata": METADATA,
    "spec": {
        "terminationGracePeriodSeconds": number,
        "serviceAccountName": name,
        "automountServiceAccountToken": truth,
        "securityContext": {
            "runAsNonRoot": truth,
            "runAsUser": number,
            "runAsGroup": number,
            "fsGroup": number,
            "fsGroupChangePolicy": one_of("Always", "OnRootMismatch"),
            "seccompProfile": SECCOMP_PROFILE,
        },
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{
            "weight": number,
            "podAffinityTerm": {"topologyKey": text, "labelSelector": SELECTOR},
        }]}},
        "initContainers": [CONTAINER],
        "containers": [CONTAINER],
        "volumes": [{
            "name": name,
            "configMap": {"name": name},
            "secret": {"secretName": name, "defaultMode": number},
            "csi": {"driver": text, "readOnly": truth, "volumeAttributes": TEXTS},
            "emptyDir": {"medium": one_of("Memory"), "sizeLimit": quantity},
            "projected": {"defaultMode": number, "sources": [{
                "serviceAccountToken": {"path": text, "expirationSeconds": number},
                "configMap": {"name": object_name, "items": [{"key": text, "path": text}]},
                "downwardAPI": {"items": [{"path": text, "fieldRef": {
                    "fieldPath": one_of("metadata.namespace")}}]},
            }]},
        }],
    },
}
KINDS = {
    ("v1", "ConfigMap"): {"data": TEXTS},
    ("v1", "Service"): {"spec": {
        "clusterIP": one_of("None"),
        "publishNotReadyAddresses": truth,
        "selector": TEXTS,
        "ports": [{"name": port_name, "port": port_number, "targetPort": port}],
    }},
    ("v1", "ServiceAccount"): {"automountServiceAccountToken": truth},
    (f"{RBAC}/v1", "Role"): {"rules": [{
        "apiGroups": [text],
        "resources": [text],
        "resourceNames": [object_name],
        "verbs": [one_of(*VERBS)],
    }]},
    (f"{RBAC}/v1", "RoleBinding"): {
        "roleRef": {"apiGroup": one_of(RBAC), "kind": one_of("Role"), "name": object_name},
        "subjects": [{"kind": one_of("ServiceAccount"), "name": name, "namespace": name}],
    },
    ("apps/v1", "Deployment"): {"spec": {
        "replicas": number,
        "selector": SELECTOR,
        "template": POD_TEMPLATE,
    }},
    ("apps/v1", "StatefulSet"): {"spec": {
        "serviceName": name,
        "replicas": number,
        "podManagementPolicy": one_of("OrderedReady", "Parallel"),
        "selector": SELECTOR,
        "template": POD_TEMPLATE,
        "volumeClaimTemplates": [{"metadata": METADATA, "spec": {
            "accessModes": [one_of("ReadWriteOnce", "ReadWriteOncePod")],
            "resources": {"requests": RESOURCES},
        }}],
    }},
    ("policy/v1", "PodDisruptionBudget"): {"spec": {
        "maxUnavailable": number,
        "selector": SELECTOR,
    }},
    ("networking.k8s.io/v1", "NetworkPolicy"): {"spec": {
        "podSelector": SELECTOR,
        "policyTypes": [one_of("Ingress", "Egress")],
        "ingress": [{
            "from": [{"podSelector": SELECTOR, "namespaceSelector": SELECTOR}],
            "ports": [{"port": port}],
        }],
    }},
    ("cert-manager.io/v1", "Issuer"): {"spec": {
        "selfSigned": {},
        "ca": {"secretName": name},
    }},
    ("cert-manager.io/v1", "Certificate"): {"spec": {
        "isCA": truth,
        "commonName": text,
        "duration": duration,
        "secretName": name,
        "privateKey": {"algorithm": one_of("RSA", "ECDSA", "Ed25519"), "size": number},
        "issuerRef": {"name": name, "kind": one_of("Issuer", "ClusterIssuer")},
    }},
    ("monitoring.coreos.com/v1", "PodMonitor"): {"spec": {
        "selector": SELECTOR,
        "podMetricsEndpoints": [{"port": port_name, "path": folder, "interval": duration}],
    }},
}


def complaints(manifest):
    """What Kubernetes would not understand of an object, each with the place."""
    kind = (manifest.get("apiVersion"), manifest.get("kind"))
    if kind not in KINDS:
        return [f"{kind} is not known"]
    form = {"apiVersion": text, "kind": text, "metadata": METADATA, **KINDS[kind]}
    return list(differences(f"{kind[1]} {manifest.get('metadata', {}).get('name')}",
                            manifest, form))


def differences(place, value, form):
    if value is None and place.endswith(".secret"):
        return  # a patch, by which the volume comes from elsewhere
    if isinstance(form, Texts):
        form = dict.fromkeys(value, text) if isinstance(value, dict) else {}
    if isinstance(form, dict):
        if not isinstance(value, dict):
            yield f"{place}: {value!r} is not an object"
            return
        for field, content in value.items():
            if field not in form:
                yield f"{place}.{field} is not known"
            else:
                yield from differences(f"{place}.{field}", content, form[field])
    elif isinstance(form, list):
        if not isinstance(value, list) or not value:
            yield f"{place}: {value!r} is not a list of something"
            return
        for index, element in enumerate(value):
            yield from differences(f"{place}[{index}]", element, form[0])
    elif not form(value):
        yield f"{place}: {value!r} is no {form.__name__}"
