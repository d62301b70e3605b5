#!/usr/bin/env bash
# Process 1 of the node: up.sh starts it in namespaces of its own. It prepares mounts, network and certificates, starts etcd,
# the API server, containerd, the controller manager, the scheduler and the kubelet, and says when the node is ready.
set -euo pipefail

NODE=node-1
# Networks for documentation (RFC 5737). They exist only in this network namespace.
NODE_IP=192.0.2.1
POD_NET=203.0.113.0/24
SERVICE_NET=198.51.100.0/24
SERVICE_IP=198.51.100.1
KUBE=$PLIMSOLL_KUBERNETES
BEGAN=${EPOCHREALTIME/./}

lap() {
    printf '%6d ms  %s\n' $(((${EPOCHREALTIME/./} - BEGAN) / 1000)) "$*" >>"$KUBE/log/times"
}

# run NAME COMMAND ...
run() {
    local name=$1
    shift
    "$@" >"$KUBE/log/$name.log" 2>&1 &
    eval "pid_$name=$!"
}

# until_ok NAME COMMAND ...: waits for the command to succeed while the part of that name lives.
until_ok() {
    local name=$1 pid=pid_$1
    shift
    until "$@" >/dev/null 2>&1; do
        if ! kill -0 "${!pid}" 2>/dev/null; then
            echo "$name ended; the end of its log:"
            tail -n 3 "$KUBE/log/$name.log"
            exit 1
        fi
        sleep 0.2
    done
}

# Inside, .kubernetes is /mnt/k: the path of a socket has at most 107 characters.
prepare_mounts() {
    mount --make-rprivate /
    cd "$KUBE"
    mount -t tmpfs tmpfs /mnt
    mkdir /mnt/k
    mount -c --bind . /mnt/k
    KUBE=/mnt/k
    cd "$KUBE"
    local folder
    # The kubelet, CNI and containerd write here.
    for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$folder"; done
    mkdir -p /run/node/cni /var/lib/kubelet
    mount --bind "$KUBE/state/kubelet" /var/lib/kubelet
    # The kubelet asks for shared mounts.
    mount --make-rshared /
}

# The kubelet writes settings of the whole machine if they differ. Files with what it expects are mounted over them.
shield_settings() {
    local setting file
    for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
        kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
        file=/run/node/$(tr / - <<<"${setting%%=*}")
        echo "${setting##*=}" >"$file"
        mount --bind "$file" "/proc/sys/${setting%%=*}"
    done
}

# The kubelet refuses loopback as the node's address, so a bridge holds it. Pods reach the API server at the address of its
# service, which the node holds too, as there is no kube-proxy. Nothing outside is reachable: a look-up fails at once.
prepare_network() {
    ip link set lo up
    ip link add node0 type bridge
    ip addr add "$NODE_IP/24" dev node0
    ip addr add "$SERVICE_IP/32" dev node0
    ip link set node0 up
    ip route add unreachable default
    echo 1 >/proc/sys/net/ipv4/ip_forward
}

new_key() {
    openssl ecparam -name prime256v1 -genkey -noout -out "$1"
}

# certificate NAME SUBJECT EXTENSION
certificate() {
    new_key "$1.key"
    openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
    openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile <(echo "$3") -out "$1.crt"
}

# The certificates are embedded, so that the file works from anywhere.
write_kubeconfig() {
    cat >"$1.conf" <<YAML
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://127.0.0.1:443", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: lab, context: {cluster: lab, user: $1}}]
current-context: lab
YAML
}

make_certificates() {
    mkdir -p "$KUBE/pki"
    cd "$KUBE/pki"
    [ -e complete ] && return 0
    new_key ca.key
    openssl req -x509 -new -key ca.key -subj /CN=plimsoll-lab -days 365 -out ca.crt
    certificate apiserver /CN=kube-apiserver \
        "subjectAltName=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:localhost,IP:127.0.0.1,IP:$NODE_IP,IP:$SERVICE_IP"
    certificate admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
    certificate kubelet "/O=system:nodes/CN=system:node:$NODE" extendedKeyUsage=clientAuth
    certificate manager /CN=system:kube-controller-manager extendedKeyUsage=clientAuth
    certificate scheduler /CN=system:kube-scheduler extendedKeyUsage=clientAuth
    openssl genrsa -out accounts.key 2048
    openssl rsa -in accounts.key -pubout -out accounts.pub
    local user
    for user in admin kubelet manager scheduler; do write_kubeconfig "$user"; done
    chmod 600 ./*.key ./*.conf
    touch complete
}

start_api() {
    run etcd etcd --data-dir "$KUBE/state/etcd" --unsafe-no-fsync --log-level error \
        --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
    run apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --advertise-address="$NODE_IP" --secure-port=443 \
        --tls-cert-file=apiserver.crt --tls-private-key-file=apiserver.key --client-ca-file=ca.crt --authorization-mode=Node,RBAC \
        --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=accounts.pub \
        --service-account-signing-key-file=accounts.key --service-cluster-ip-range="$SERVICE_NET" \
        --kubelet-client-certificate=admin.crt --kubelet-client-key=admin.key \
        --kubelet-preferred-address-types=InternalIP --allow-privileged=true --profiling=false
}

write_containerd_config() {
    cat >/run/node/cni/10-lab.conflist <<JSON
{"cniVersion":"0.4.0","name":"lab","plugins":[{"type":"bridge","bridge":"cni0","isGateway":true,"ipMasq":false,
 "ipam":{"type":"host-local","dataDir":"/run/node/ipam","ranges":[[{"subnet":"$POD_NET"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
JSON
    cat >/run/node/containerd.toml <<TOML
version = 2
root = "$KUBE/state/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "/run/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "plimsoll.test/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true
  tolerate_missing_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$KUBE/debian/root/usr/lib/cni"
    conf_dir = "/run/node/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "$KUBE/debian/root/usr/sbin/runc"
        SystemdCgroup = false
TOML
}

# There are no pulls: pods have no way out of this machine.
start_containerd() {
    write_containerd_config
    run containerd containerd --config /run/node/containerd.toml
    until_ok containerd ctr version
    local image
    for image in "$KUBE"/images/*.tar; do ctr -n k8s.io images import "$image"; done
}

start_controllers() {
    # The usual limit of 20 requests a second delays the start by four seconds.
    run manager kube-controller-manager --kubeconfig=manager.conf --bind-address=127.0.0.1 --leader-elect=false --profiling=false \
        --service-account-private-key-file=accounts.key --root-ca-file=ca.crt --use-service-account-credentials \
        --kube-api-qps=200 --kube-api-burst=400
    run scheduler kube-scheduler --kubeconfig=scheduler.conf --bind-address=127.0.0.1 --leader-elect=false --profiling=false
}

start_kubelet() {
    # Images that are removed when the disk fills up cannot be pulled again: 100 turns that off.
    cat >/run/node/kubelet.yaml <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $KUBE/pki/ca.crt}}
authorization: {mode: Webhook}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
volumePluginDir: /var/lib/kubelet/volumeplugins
cgroupDriver: cgroupfs
cgroupRoot: /$CGROUP
failCgroupV1: false
failSwapOn: false
resolvConf: ""
makeIPTablesUtilChains: false
oomScoreAdj: 0
maxOpenFiles: $(ulimit -Hn | sed 's/unlimited/1000000/')
maxPods: 200
registryPullQPS: 0
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
YAML
    run kubelet kubelet --config /run/node/kubelet.yaml --kubeconfig kubelet.conf --hostname-override "$NODE" --node-ip "$NODE_IP"
}

prepare_mounts
export PATH=$KUBE/bin:$KUBE/debian/root/usr/bin:$KUBE/debian/root/usr/sbin:$PATH KUBECONFIG=$KUBE/pki/admin.conf
shield_settings
prepare_network
make_certificates
lap "namespaces and certificates"
start_api
start_containerd
lap "containerd has the images"
until_ok apiserver kubectl get --raw /readyz
lap "the API server is ready"
start_controllers
start_kubelet
until_ok kubelet kubectl wait --for=condition=Ready "node/$NODE" --timeout=1s
until_ok manager kubectl -n default get serviceaccount default
lap "the node is ready"
touch "$KUBE/run/ready"
if [ -n "${CLUSTER_SECONDS:-}" ]; then sleep "$CLUSTER_SECONDS"; else wait; fi
