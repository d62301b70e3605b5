#!/usr/bin/env python3
"""Packs files into a container image, without a container engine.

    image.py OUT.tar NAME:TAG PROGRAM=/PATH [FILE=/PATH ...]

The image runs the first file; a static program needs no other. OUT.tar is an OCI layout with one compressed layer, as `docker load`,
`podman load`, `skopeo copy oci-archive:OUT.tar` and `ctr images import` read it. The same files give the same image.
"""
import gzip
import hashlib
import io
import json
import os
import platform
import sys
import tarfile

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
IMAGE = "application/vnd.oci.image."


def pack(files):
    """Returns a tar of (name, content, mode)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content, mode in files:
            entry = tarfile.TarInfo(name.lstrip("/"))
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def descriptor(kind, content, **more):
    return {"mediaType": IMAGE + kind, "digest": digest(content), "size": len(content), **more}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def image(reference, contents):
    """Returns the files of an OCI layout."""
    architecture = ARCHITECTURES.get(platform.machine(), platform.machine())
    layer = pack([(inside, read(path), os.stat(path).st_mode & 0o777) for path, inside in contents])
    compressed = gzip.compress(layer, mtime=0)
    config = json.dumps({
        "architecture": architecture, "os": "linux",
        "config": {"Entrypoint": [contents[0][1]], "User": "65532:65532"},
        "rootfs": {"type": "layers", "diff_ids": [digest(layer)]},
    }).encode()
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": IMAGE + "manifest.v1+json",
        "config": descriptor("config.v1+json", config), "layers": [descriptor("layer.v1.tar+gzip", compressed)],
    }).encode()
    names = {"io.containerd.image.name": reference, "org.opencontainers.image.ref.name": reference.rsplit(":", 1)[1]}
    index = json.dumps({"schemaVersion": 2, "manifests": [descriptor(
        "manifest.v1+json", manifest, platform={"architecture": architecture, "os": "linux"}, annotations=names)]}).encode()
    blobs = [("blobs/sha256/" + digest(blob)[7:], blob, 0o644) for blob in (compressed, config, manifest)]
    return [("oci-layout", b'{"imageLayoutVersion":"1.0.0"}', 0o644), ("index.json", index, 0o644)] + blobs


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    out, reference, *files = sys.argv[1:]
    layout = pack(image(reference, [file.rsplit("=", 1) for file in files]))
    with open(out, "wb") as file:
        file.write(layout)
    print(f"{out}: {reference}, {len(layout) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
