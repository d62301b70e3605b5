#!/usr/bin/env bash
# Tests Plimsoll on the Kubernetes of this folder: a fleet with keys as a Job, agents that do not start, the chart against the command, the
# roles of deploy/kubernetes, the verdict from a probe of pods. Starts and ends the node itself; about five minutes after the builds.
# PLIMSOLL names the program (by default the debug build), PLIMSOLL_IMAGE the image's archive (by default that of `make image`).
set -euo pipefail
# shellcheck source=cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
# shellcheck source=../checks.sh
. "$(dirname "${BASH_SOURCE[0]}")/../checks.sh"
LAB=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPOSITORY=$(cd "$LAB/../.." && pwd)
PLIMSOLL=${PLIMSOLL:-$REPOSITORY/target/debug/plimsoll}
ARCHIVE=${PLIMSOLL_IMAGE:-$REPOSITORY/target/plimsoll-image.tar}
IMAGE=plimsoll.test/plimsoll:0.1.0
NODE=192.0.2.1
BROKER=nats://$NODE:4222
TARGET=$NODE:8080
WORK=$(mktemp -d)
# What a conductor needs at the broker.
ACCESS=(--fleet "$BROKER" --fleet-credentials "$WORK/keys/conductor.creds")
STARTED=()

in_net() { "$LAB/in-cluster" net "$@"; }
kubectl() { "$LAB/in-cluster" kubectl "$@"; }
plimsoll() { in_net "$PLIMSOLL" "$@"; }
# UP_IMAGE and UP_CPU replace the usual image and cores.
up() { plimsoll fleet up --kubernetes 3 --image "${UP_IMAGE:-$IMAGE}" --fleet "$BROKER" --keys "$WORK/keys" --allow "$TARGET" --cpu "${UP_CPU:-200m}" --memory 64Mi "$@"; }

# start NAME COMMAND ...: a server in the node's network, until this script ends.
start() {
    local name=$1
    shift
    "$LAB/in-cluster" net "$@" >"$WORK/$name.log" 2>&1 &
    STARTED+=($!)
}

clean_up() {
    for pid in "${STARTED[@]}"; do kill "$pid" 2>/dev/null || true; done
    "$LAB/down.sh"
    rm -rf "$WORK"
}

start_servers() {
    local server
    server=$(PATH="$PATH:$HOME/go/bin" command -v nats-server) || fail "nats-server is missing; make setup installs it"
    "$PLIMSOLL" fleet keys "$WORK/keys" >/dev/null
    printf 'listen: "%s:4222"\njetstream { store_dir: "%s" }\ninclude "keys/broker.conf"\n' "$NODE" "$WORK/broker" >"$WORK/nats.conf"
    start broker "$server" --config "$WORK/nats.conf"
    start target "$PLIMSOLL" target --listen "$NODE" --port 8080
    until_ok in_net "$PLIMSOLL" fleet status "${ACCESS[@]}"
}

# The name in a credentials file, whose second line is a JWT.
name_in() {
    sed -n 2p "$1" | python3 -c 'import base64, json, sys; print(json.loads(base64.urlsafe_b64decode(sys.stdin.read().split(".")[1] + "=="))["name"])'
}

# The Secret has credentials of each agent and nothing of the conductor; a pod has only its own.
test_secret() {
    local agent names
    names=$(kubectl get secret plimsoll -o json | jq -r '.data | keys | join(" ")')
    [ "$names" = "plimsoll-0.creds plimsoll-1.creds plimsoll-2.creds" ] || fail "the Secret holds $names"
    for agent in plimsoll-0 plimsoll-1 plimsoll-2; do
        kubectl get secret plimsoll -o json | jq -r ".data[\"$agent.creds\"]" | base64 -d >"$WORK/$agent.creds"
        [ "$(name_in "$WORK/$agent.creds")" = "$agent" ] || fail "the credentials of $agent are those of $(name_in "$WORK/$agent.creds")"
    done
    ok "the Secret has credentials for each agent and none of the conductor"
    [ "$(kubectl get pods -l app.kubernetes.io/name=plimsoll -o json | jq -r '[.items[].spec.containers[0].volumeMounts[].subPathExpr] | unique | .[]')" = 'plimsoll-$(JOB_COMPLETION_INDEX).creds' ] ||
        fail "a pod sees more than its own credentials"
    ok "a pod sees only its own credentials"
}

# A conductor without the key of the fleet makes no load.
test_other_conductor() {
    if plimsoll run "http://$TARGET/healthz" -n 60 "${ACCESS[@]}" --agents 3 --no-probe >"$WORK/unsigned" 2>&1; then fail "agents obey a conductor without the key"; fi
    expect "agents obey only the conductor whose key they trust" "--fleet-key FILE" "$WORK/unsigned"
}

test_fleet() {
    up --within 60s >"$WORK/up" 2>&1
    expect "three agents answer at the broker" "$BROKER" "$WORK/up"
    # The kubelet reports a pod some time after its container has started.
    kubectl wait --for=condition=Ready pods -l app.kubernetes.io/name=plimsoll --timeout=30s >/dev/null
    plimsoll fleet status --kubernetes >"$WORK/status"
    [ "$(grep -c Running "$WORK/status")" = 3 ] || fail "not all agents run: $(cat "$WORK/status")"
    ok "status shows the pods"
    test_secret
    test_other_conductor
    plimsoll run "http://$TARGET/healthz" -n 600 -c 6 "${ACCESS[@]}" --fleet-key "$WORK/keys/conductor.nk" --agents 3 >"$WORK/run" 2>&1
    expect "600 requests of three pods are 600" "600 ok · 0 failed" "$WORK/run"
    [ "$(kubectl get pods -l app.kubernetes.io/name=plimsoll -o 'jsonpath={.items[*].status.qosClass}')" = "Guaranteed Guaranteed Guaranteed" ] ||
        fail "not all agents are Guaranteed"
    ok "agents are Guaranteed"
    plimsoll fleet down --kubernetes
    [ -z "$(kubectl get jobs,pods,secrets -o name)" ] || fail "down has left: $(kubectl get jobs,pods,secrets -o name)"
    ok "down leaves nothing"
}

# A busy machine gives no ceiling, which the agent says before it joins.
test_calibration() {
    plimsoll fleet up --kubernetes 1 --job measured --image "$IMAGE" --fleet "$BROKER" --keys "$WORK/keys" --allow "$TARGET" --cpu 2 --calibrate 2s --within 90s >"$WORK/up" 2>&1 ||
        fail "the agent did not come: $(cat "$WORK/up")"
    kubectl logs job/measured >"$WORK/measured"
    expect "an agent in a pod calibrates" "calibrates for about 2 s" "$WORK/measured"
    grep -E 'one worker can make [0-9,]+ requests/s here|the calibration gives no ceiling' "$WORK/measured" >/dev/null ||
        fail "the agent does not say what the calibration gave: $(cat "$WORK/measured")"
    ok "it says what that gave, and joins"
    plimsoll fleet down --kubernetes --job measured
}

# refused NAME TEXT ARGS: agents do not start, the reason is given, nothing is left.
refused() {
    local name=$1 text=$2
    shift 2
    if up "$@" >"$WORK/refused" 2>&1; then fail "$name: it started"; fi
    expect "$name" "$text" "$WORK/refused"
    [ -z "$(kubectl get jobs,pods -o name)" ] || fail "$name: something is left"
}

test_agents_that_do_not_start() {
    UP_IMAGE=plimsoll.test/none:1 refused "an image that does not exist is named" "plimsoll.test/none:1" --within 5s
    UP_CPU=40 refused "a node that is full is named" "plimsoll-0, plimsoll-1, plimsoll-2: Unschedulable: 0/1 nodes are available: 1 Insufficient cpu" --within 3s
    refused "a broker that pods cannot reach is named" "could not connect to the broker at nats://$NODE:4999" --join "nats://$NODE:4999"
    kubectl create quota few --hard=pods=1 >/dev/null
    until_ok kubectl wait --for=jsonpath='{.status.hard.pods}'=1 quota/few --timeout=5s
    refused "a quota of the namespace is named" "exceeded quota: few" --within 4s
    kubectl delete quota few >/dev/null
}

# The objects of the chart are those of the command, with the same files.
test_chart() {
    local agent trust credentials=()
    up --cacert "$KUBE/pki/ca.crt" --cert "$KUBE/pki/admin.crt" --cert-key "$KUBE/pki/admin.key" --calibrate 5s --print >"$WORK/objects.json"
    trust=$("$PLIMSOLL" fleet keys "$WORK/keys" | sed -n 's/.*--trust //p')
    for agent in plimsoll-0 plimsoll-1 plimsoll-2; do credentials+=(--set-file "credentials.$agent=$WORK/keys/agents/$agent.creds"); done
    "$KUBE/bin/helm" template plimsoll "$REPOSITORY/deploy/helm/plimsoll-agents" --namespace default \
        --set "agents=3,image=$IMAGE,join=$BROKER,cpu=200m,memory=64Mi,calibrate=5s,trust=$trust" --set-string "allow={$TARGET}" \
        --set-file "cacert=$KUBE/pki/ca.crt,cert=$KUBE/pki/admin.crt,certKey=$KUBE/pki/admin.key" "${credentials[@]}" >"$WORK/chart.yaml"
    diff <(jq -S '.items[]' "$WORK/objects.json") \
        <(kubectl create --dry-run=client -o json -f "$WORK/chart.yaml" | jq -S 'if .kind == "List" then .items[] else . end') >&2 ||
        fail "the chart and fleet up --print differ"
    ok "the chart makes the objects of fleet up"
}

# A user with the roles of deploy/kubernetes and no others.
make_user() {
    kubectl apply -f "$REPOSITORY/deploy/kubernetes/roles.yaml" >/dev/null
    kubectl create serviceaccount tester >/dev/null
    kubectl create rolebinding fleet --role plimsoll-fleet --serviceaccount default:tester >/dev/null
    kubectl create rolebinding probe --role plimsoll-probe --serviceaccount default:tester >/dev/null
    kubectl create clusterrolebinding probe --clusterrole plimsoll-probe --serviceaccount default:tester >/dev/null
    sed "s/user: {client.*}}\]/user: {token: $(kubectl create token tester)}}]/" "$KUBE/pki/admin.conf" >"$WORK/tester.conf"
}

as_tester() { in_net env KUBECONFIG="$WORK/tester.conf" "$PLIMSOLL" "$@"; }

test_roles() {
    as_tester fleet up --kubernetes 2 --job other --image "$IMAGE" --fleet "$BROKER" --keys "$WORK/keys" --allow "$TARGET" --cpu 200m --memory 64Mi --within 60s >"$WORK/up" 2>&1
    as_tester fleet down --kubernetes --job other
    ok "the role plimsoll-fleet is enough"
}

# cAdvisor measures a container every 10 to 17 s, and the first measurement that is seen does not count.
test_probe() {
    kubectl apply -f "$LAB/api.yaml" >/dev/null
    kubectl rollout status deployment/api --timeout=60s >/dev/null
    local pod
    pod=$(kubectl get pods -l app=api -o 'jsonpath={.items[0].status.podIP}')
    cd "$WORK"
    as_tester run "http://$pod:8080/cpu?us=500" -c 8 -d 100s --probe "k8s://default/$1/api" >"$WORK/probe" 2>&1
    expect "k8s://default/$1/api: the verdict is the CPU quota of the pod" "the CPU quota of api-" "$WORK/probe"
    grep -E 'used (9[0-9]|10[0-5]) % of its 0.500 cores' <(tr -s ' \n' ' ' <"$WORK/probe") >/dev/null || fail "the use of the quota is not there: $(cat "$WORK/probe")"
    ok "k8s://default/$1/api: the quota is used up"
}

[ -x "$PLIMSOLL" ] || fail "$PLIMSOLL is missing; run cargo build --workspace"
[ -e "$ARCHIVE" ] || fail "$ARCHIVE is missing; run make image IMAGE=$IMAGE"
trap clean_up EXIT
cp "$ARCHIVE" "$KUBE/images/plimsoll.tar"
"$LAB/down.sh"
CLUSTER_SECONDS=900 "$LAB/up.sh"
start_servers
test_fleet
test_calibration
test_agents_that_do_not_start
test_chart
make_user
test_roles
test_probe deployment
test_probe service
printf '%d passed, 0 failed\n' $PASSED
