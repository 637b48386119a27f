#!/bin/sh
# Writes what the units read: NAME.env for each service, the migrations and the worker, with the secrets that
# deploy/secrets.sh has made. Run it again for each host, and after a change of a secret or an address.
#
#   deploy/systemd/configure.sh windlass.env DIRECTORY
#
# Addresses of the stores, as for deploy/helm/secret.sh: POSTGRES, NATS and REDIS. Optionally:
#   HOST=10.0.0.1                           # address of this host on which services listen; 127.0.0.1
#   SERVER_URL=https://windlass.example     # where workers reach the gateways; http://127.0.0.1:8000
set -eu
umask 077

file=${1:?usage: deploy/systemd/configure.sh FILE DIRECTORY}
dir=${2:?usage: deploy/systemd/configure.sh FILE DIRECTORY}
: "${HOST:=127.0.0.1}"
: "${SERVER_URL:=http://127.0.0.1:8000}"
[ -d "$dir" ] || { echo "no such folder: $dir" >&2; exit 1; }
secrets=$(sh "$(dirname "$0")/../helm/secret.sh" "$file")

# value KEY: a value of the secret
value() {
  printf '%s\n' "$secrets" | sed -n "s|^  $1: \"\(.*\)\"\$|\1|p"
}
# write NAME LINE...: replaces a file in one step
write() {
  name=$1
  shift
  printf '%s\n' "$@" >"$dir/$name.env.new"
  mv "$dir/$name.env.new" "$dir/$name.env"
}
# service NAME ADMIN_PORT LINE...
service() {
  name=$1
  port=$2
  shift 2
  write "$name" "SVC_ADMIN__HOST=$HOST" "SVC_ADMIN__PORT=$port" "$@"
}
# inner NAME PORT ADMIN_PORT LINE...: a service with a schema, which others call
inner() {
  name=$1
  port=$2
  admin=$3
  shift 3
  service "$name" "$admin" "SVC_LISTEN__HOST=$HOST" "SVC_LISTEN__PORT=$port" \
    "SVC_POSTGRES__URL=$(value "postgres-url-$name")" "SVC_RPC__KEYS=$(value "rpc-keys-$name")" "$@"
}
nats() {
  echo "SVC_NATS__URL=$(value "nats-url-$1")"
}
redis() {
  echo "SVC_REDIS__URL=$(value "redis-url-$1")"
}
token_secret=SVC_SECURITY__EXECUTION_TOKEN_SECRET=$(value execution-token-secret)
bootstrap_token=SVC_WORKERS__BOOTSTRAP_TOKEN=$(value bootstrap-token)

inner identity 9001 9101 "$(redis identity)" "$bootstrap_token" \
  "SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY=$(value encryption-key)"
inner catalog 9002 9102 "$(nats catalog)" "$(redis catalog)"
inner executions 9003 9103 "$(nats executions)" "$token_secret"
inner dispatcher 9004 9104 "$(nats dispatcher)" "SVC_DISPATCHER__STREAM_HOST=$HOST" SVC_DISPATCHER__STREAM_PORT=9014
inner scheduler 9005 9105 "$(nats scheduler)"
service gateway 9106 "SVC_SERVER__HOST=$HOST" SVC_SERVER__PORT=8000 "SVC_RPC__KEYS=$(value rpc-keys-gateway)" \
  "$(nats gateway)" "$(redis gateway)" "$token_secret"
service mcp 9107 "SVC_MCP__HOST=$HOST" SVC_MCP__PORT=8080
write migrate "SVC_POSTGRES__ADMIN_URL=$(value postgres-admin-url)"
write worker "SVC_WORKER__SERVER_URL=$SERVER_URL" "$bootstrap_token"
