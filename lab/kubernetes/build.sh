#!/usr/bin/env bash
# Builds a Kubernetes of one node into .kubernetes: etcd and the Kubernetes programs from Go modules, containerd, runc and
# the CNI plugins from Debian's packages, Helm from its Go module, the pause image. What is there is kept: delete a program to build
# it again. Installs nothing. Needs Go, jq, python3 and apt-get; about six minutes on two cores the first time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=cluster.sh
. ./cluster.sh

VERSION=1.33.13
HELM_VERSION=v3.19.0
HERE=$PWD
export GOPATH=$KUBE/go GOCACHE=$KUBE/gocache GOFLAGS="-mod=mod -modcacherw" GOTOOLCHAIN=local CGO_ENABLED=0 GOWORK=off
mkdir -p "$KUBE/source" "$KUBE/bin" "$KUBE/images" "$KUBE/debian/packages"

# The archive of k8s.io/kubernetes lacks its `staging` folders; the same code is published as v0.MINOR.PATCH.
write_module() {
    local mod
    grep -qs "k8s.io/kubernetes v$VERSION\$" go.mod && return 0
    rm -f go.mod go.sum
    mod=$(go mod download -json "k8s.io/kubernetes@v$VERSION" | jq -r .GoMod)
    {
        printf 'module plimsoll.test/kubernetes\n\n'
        grep '^go ' "$mod"
        printf 'require k8s.io/kubernetes v%s\n\nreplace (\n' "$VERSION"
        sed -nE 's#^\s*(k8s.io/[a-z0-9-]*) => ./staging.*#\1#p; s#^replace (k8s.io/[a-z0-9-]*) => ./staging.*#\1#p; s#^\s*(k8s.io/[a-z0-9-]*) v0.0.0$#\1#p' "$mod" |
            sort -u | awk -v version="v0.${VERSION#1.}" '{ print "\t" $1 " => " $1 " " version }'
        printf ')\n'
    } >go.mod.new
    mv go.mod.new go.mod
}

write_imports() {
    printf '//go:build tools\n\npackage tools\n\nimport (\n\t_ "go.etcd.io/etcd/server/v3"\n' >tools.go
    printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet >>tools.go
    printf ')\n' >>tools.go
}

# build NAME PACKAGE
build() {
    [ -x "$KUBE/bin/$1" ] && return 0
    local began=$SECONDS flags="-s -w" package
    for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        flags="$flags -X $package.gitVersion=v$VERSION -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$VERSION") -X $package.gitTreeState=clean"
    done
    go build -trimpath -ldflags "$flags" -o "$KUBE/bin/$1.new" "$2"
    mv "$KUBE/bin/$1.new" "$KUBE/bin/$1"
    printf '%s: %d s\n' "$1" $((SECONDS - began))
}

build_programs() {
    cd "$KUBE/source"
    write_module
    write_imports
    local name
    for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl; do
        build "$name" "k8s.io/kubernetes/cmd/$name"
    done
    build etcd go.etcd.io/etcd/server/v3
}

build_helm() {
    [ -x "$KUBE/bin/helm" ] && return 0
    GOBIN=$KUBE/bin go install "helm.sh/helm/v3/cmd/helm@$HELM_VERSION"
}

unpack_packages() {
    local root=$KUBE/debian/root package
    [ -x "$root/usr/bin/containerd" ] && [ -x "$root/usr/sbin/runc" ] && [ -x "$root/usr/lib/cni/bridge" ] && return 0
    cd "$KUBE/debian/packages"
    # Lists of packages may be missing, or name versions that the mirror has no more.
    apt-get download containerd runc containernetworking-plugins 2>/dev/null || {
        apt-get update -qq
        apt-get download containerd runc containernetworking-plugins
    }
    for package in *.deb; do dpkg -x "$package" "$root"; done
}

build_pause() {
    cd "$HERE/pause"
    go build -trimpath -ldflags "-s -w" -o "$KUBE/images/pause" .
    "$HERE/../../scripts/image.py" "$KUBE/images/pause.tar" plimsoll.test/pause:1 "$KUBE/images/pause=/pause"
}

build_programs
build_helm
unpack_packages
build_pause
