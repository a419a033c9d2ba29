#!/usr/bin/env bash
# Tests the images and the manifests on a real cluster: builds, loads, deploys the control plane over PostgreSQL, and
# runs steps of a native and of a plain sidecar, one whose pod is deleted, and one whose agent never starts.
#
# Needs docker, kind 0.24 or later (which enforces NetworkPolicy), kubectl, jq, curl, openssl, and what `npm run build`
# left in dist/; takes a few minutes. There was no docker engine where it was written: shellcheck has read it, and it
# ran through with stand-ins for docker, kind and kubectl. It was never run on a cluster.
#
#   docker/kubernetes/kind-test.sh          KEEP=1 leaves the cluster behind
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(jq -r .version package.json)
cluster=wfvar-test
work=$(mktemp -d)
export KUBECONFIG=$work/kubeconfig
operator_port=18410
forward_pid=

clean_up() {
  if [ -n "$forward_pid" ]; then kill "$forward_pid" 2>/dev/null || true; fi
  if [ "${KEEP:-}" = 1 ]; then
    echo "kept: kind delete cluster --name $cluster; KUBECONFIG=$KUBECONFIG"
  else
    kind delete cluster --name "$cluster"
    rm -rf "$work"
  fi
}
trap clean_up EXIT

say() { printf '\n== %s\n' "$*"; }

fail() {
  echo "FAILED: $*" >&2
  kubectl --namespace agents describe pods >&2 || true
  kubectl --namespace wfvar logs --selector app.kubernetes.io/name=wfvar-control-plane --tail 50 >&2 || true
  exit 1
}

# expect WHAT WANTED GOT
expect() {
  if [ "$2" != "$3" ]; then fail "$1: wanted $2, got $3"; fi
  echo "ok  $1: $3"
}

# operator PATH [JSON]: an operator call, its body on stdout.
operator() {
  local data=()
  if [ $# -gt 1 ]; then data=(--header 'Content-Type: application/json' --data "$2"); fi
  curl --silent --show-error --fail-with-body "${data[@]}" \
    --header "Authorization: Bearer $(cat "$work/secrets/operator-token")" \
    "http://127.0.0.1:$operator_port$1"
}

# outcome STEP: its status and cause, once it has ended.
outcome() {
  local answer
  for _ in $(seq 60); do
    answer=$(operator /v1/runs/kind/steps |
      jq -r --arg step "$1" '.steps[] | select(.step == $step) | "\(.status) \(.cause.code)"')
    case $answer in succeeded*|failed*) break ;; esac
    sleep 2
  done
  echo "$answer"
}

# start_step STEP IMAGE FLAG SCRIPT: stamps, keeps the token in a Secret, injects, applies.
start_step() {
  local step=$1 image=$2 flag=$3 script=$4
  local job=$work/$step.yaml stamp=$work/$step.json
  operator /v1/runs/kind/steps "$(jq -n --arg step "$step" '{step: $step}')" >"$stamp"
  jq -rj .token "$stamp" |
    kubectl --namespace agents create secret generic "$step-wfvar-token" --from-file=token=/dev/stdin
  jq -n --arg step "$step" --arg image "$image" --arg script "$script" '{
    apiVersion: "batch/v1", kind: "Job", metadata: {name: $step, namespace: "agents"},
    spec: {backoffLimit: 0, template: {spec: {
      restartPolicy: "Never", automountServiceAccountToken: false,
      securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: "RuntimeDefault"}},
      containers: [{
        name: "agent", image: $image, imagePullPolicy: "Never", command: ["sh", "-c", $script],
        securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: ["ALL"]}}
      }]}}}}' >"$job"
  docker run --rm --interactive --volume "$stamp:/stamp.json:ro" "wfvar-sidecar:$version" \
    inject --file - --stamp /stamp.json --cp-url http://wfvar-step.wfvar.svc:8411 --allow-http "$flag" \
    <"$job" | kubectl apply --filename -
}

pod_of() { kubectl --namespace agents get pods --selector "job-name=$1" --output name; }

# wait_for WHAT COMMAND…: until the command succeeds, a minute at most.
wait_for() {
  local what=$1
  shift
  for _ in $(seq 30); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 2
  done
  fail "$what did not come"
}

sidecar_runs() {
  [ "$(kubectl --namespace agents get "$(pod_of "$1")" --output \
    'jsonpath={.status.initContainerStatuses[?(@.name=="wfvar-sidecar")].started}')" = true ]
}

sidecar_sees() {
  kubectl --namespace agents exec "$(pod_of "$1")" --container wfvar-sidecar -- wfvar-sidecar status | grep -q "$2"
}

say "images of $version"
[ -f dist/sidecar/main.mjs ] || fail "nothing is built: npm ci && npm run build"
docker build --file docker/Dockerfile --target sidecar --tag "wfvar-sidecar:$version" .
docker build --file docker/Dockerfile --target controlplane --tag "wfvar-cp:$version" .
docker build --file docker/Dockerfile --target agent-node --tag "wfvar-agent-node:$version" .

say "cluster"
kind create cluster --name "$cluster" --wait 120s
kind load docker-image --name "$cluster" "wfvar-sidecar:$version" "wfvar-cp:$version" "wfvar-agent-node:$version"
kubectl create namespace agents
kubectl label namespace agents pod-security.kubernetes.io/enforce=restricted

say "control plane over PostgreSQL"
mkdir -m 700 "$work/secrets"
docker run --rm --user "$(id -u)" --volume "$work/secrets:/secrets" "wfvar-cp:$version" token make --data-dir /secrets
password=$(openssl rand -hex 24)
printf 'postgres://wfvar:%s@postgres.wfvar.svc:5432/wfvar' "$password" >"$work/secrets/database-url"
sed 's#registry.example.com/##' docker/kubernetes/control-plane.yaml >"$work/control-plane.yaml"
kubectl create namespace wfvar --dry-run=client --output yaml | kubectl apply --filename -
printf %s "$password" | kubectl --namespace wfvar create secret generic postgres --from-file=password=/dev/stdin
kubectl --namespace wfvar create secret generic wfvar-control-plane --from-file="$work/secrets"
kubectl apply --filename docker/kubernetes/kind/postgres.yaml
kubectl --namespace wfvar rollout status deployment/postgres --timeout 180s
kubectl apply --filename "$work/control-plane.yaml"
kubectl apply --filename docker/kubernetes/network-policy.yaml
kubectl --namespace wfvar rollout status deployment/wfvar-control-plane --timeout 180s
kubectl --namespace wfvar port-forward service/wfvar-operator "$operator_port:8410" >/dev/null &
forward_pid=$!
wait_for "the operator listener" curl --silent --fail --output /dev/null "http://127.0.0.1:$operator_port/readyz"
operator /v1/runs '{"run":"kind","template":"kind","inputs":{"repo":"a repository"}}' >/dev/null

agent=wfvar-agent-node:$version
for sidecar in native plain; do
  say "a step with a $sidecar sidecar"
  start_step "$sidecar" "$agent" "--$sidecar" 'wfvar get workflow.inputs.repo | wfvar set repo --stdin'
  kubectl --namespace agents wait --for=condition=complete --timeout 120s "job/$sidecar"
  expect "outcome" "succeeded null" "$(outcome "$sidecar")"
  expect "value" "a repository" "$(operator "/v1/runs/kind/variables/$sidecar.repo")"
done

say "an agent that tries the operator listener"
# shellcheck disable=SC2016 # the agent's shell expands it
start_step curious "$agent" --native \
  'node -e "fetch(\"http://wfvar-operator.wfvar.svc:8410/healthz\", {signal: AbortSignal.timeout(5000)}).then(() => \"yes\", () => \"no\").then((word) => process.stdout.write(word))" | wfvar set reached --stdin'
expect "outcome" "succeeded null" "$(outcome curious)"
expect "reached" "no" "$(operator /v1/runs/kind/variables/curious.reached)"

say "a pod that is deleted in the middle of its step"
start_step deleted "$agent" --native 'wfvar set partial yes; sleep 600'
wait_for "the value in the pod" sidecar_sees deleted '1 values'
kubectl --namespace agents delete "$(pod_of deleted)" --wait=false
# The entrypoint was told too, and left a marker that says so.
expect "outcome" "failed agent_terminated" "$(outcome deleted)"
expect "value" "yes" "$(operator /v1/runs/kind/variables/deleted.partial)"

say "a pod that is deleted before its agent could start"
start_step absent "wfvar-no-such-image:$version" --native 'true'
wait_for "the sidecar" sidecar_runs absent
kubectl --namespace agents delete "$(pod_of absent)" --wait=false
expect "outcome" "failed interrupted" "$(outcome absent)"

say "all well"
