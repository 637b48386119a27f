#!/bin/sh
# Prints the Secret that the chart refers to, from the secrets that deploy/secrets.sh has made:
#
#   deploy/secrets.sh windlass.env          # once; keep the file, or keep its content in your secret store
#   deploy/helm/secret.sh windlass.env > secret.yaml
#
# Addresses of the stores, as variables:
#   POSTGRES=postgres.db:5432/windlass      # with ?sslmode=verify-full&sslrootcert=… for TLS
#   POSTGRES_ADMIN=windlass                 # a role that may create schemas and roles; its password is
#                                           # WINDLASS_POSTGRES_PASSWORD in the file
#   NATS=nats://nats.db:4222                # several servers with commas: tls://a:4222,tls://b:4222
#   REDIS=redis://redis.db:6379
# NATS and Redis need the users of deploy/compose.yml with the passwords of the file.
set -eu

file=${1:?usage: deploy/helm/secret.sh FILE}
: "${POSTGRES:?set POSTGRES to host:port/database}"
: "${NATS:?set NATS to nats://host:port or tls://host:port}"
: "${REDIS:?set REDIS to redis://host:port or rediss://host:port}"
. "$(cd "$(dirname "$file")" && pwd)/$(basename "$file")"

# entry KEY VALUE
entry() {
  printf '  %s: "%s"\n' "$1" "$2"
}
upper() {
  echo "$1" | tr '[:lower:]' '[:upper:]'
}
# password NAME: the value of WINDLASS_NAME_PASSWORD
password() {
  eval "printf %s \"\${WINDLASS_$1_PASSWORD:?is missing in $file}\""
}
# keys SERVICE PAIR...: the keys of these pairs, as [svc.rpc].keys takes them
keys() {
  service=$1
  list=
  shift
  for pair; do
    key=$(eval "printf %s \"\${WINDLASS_KEY_$(upper "${pair%:*}")_$(upper "${pair#*:}"):?is missing in $file}\"")
    list=$list${list:+,}$pair:$key
  done
  entry "rpc-keys-$service" "$list"
}

cat <<END
apiVersion: v1
kind: Secret
metadata:
  name: windlass
stringData:
END
entry postgres-admin-url "postgres://${POSTGRES_ADMIN:-windlass}:$(password POSTGRES)@$POSTGRES"
for service in identity catalog executions dispatcher scheduler; do
  entry "postgres-url-$service" "postgres://windlass_$service:$(password "POSTGRES_$(upper $service)")@$POSTGRES"
done
for service in gateway catalog executions dispatcher scheduler; do
  entry "nats-url-$service" "${NATS%%://*}://$service:$(password "NATS_$(upper $service)")@${NATS#*://}"
done
for service in gateway identity catalog; do
  entry "redis-url-$service" "${REDIS%%://*}://$service:$(password "REDIS_$(upper $service)")@${REDIS#*://}"
done
keys gateway gateway:identity gateway:catalog gateway:executions gateway:dispatcher gateway:scheduler
keys identity gateway:identity scheduler:identity
keys catalog gateway:catalog scheduler:catalog dispatcher:catalog
keys executions gateway:executions scheduler:executions dispatcher:executions
keys dispatcher gateway:dispatcher dispatcher:catalog dispatcher:executions
keys scheduler gateway:scheduler scheduler:identity scheduler:catalog scheduler:executions
entry bootstrap-token "$WINDLASS_BOOTSTRAP_TOKEN"
entry encryption-key "$WINDLASS_ENCRYPTION_KEY"
entry execution-token-secret "$WINDLASS_EXECUTION_TOKEN_SECRET"
