#!/bin/sh
# Makes the secrets of `deploy/compose.yml` in `deploy/.env`, or in the file that is given. Run it again after an
# upgrade: existing secrets stay as they are, and only missing ones are added.
#
#   deploy/secrets.sh [--tls NAME] [FILE]
#
# --tls also makes, in the folder `tls` next to the file, an authority, a certificate of the services for
# connections to one another, and one for the public NAME, unless these exist. Replace the public one
# (`public.pem`: certificate, then key) by a certificate that your clients trust.
set -eu
umask 077

name=
if [ "${1:-}" = --tls ]; then
  name=${2:?usage: deploy/secrets.sh [--tls NAME] [FILE]}
  shift 2
fi
file=${1:-$(dirname "$0")/.env}
command -v openssl >/dev/null || { echo 'openssl is needed to make secrets' >&2; exit 1; }
[ -d "$(dirname "$file")" ] || { echo "no such folder: $(dirname "$file")" >&2; exit 1; }
touch "$file"
chmod 600 "$file"

# value VARIABLE VALUE: appends a line unless the variable has one
value() {
  grep -q "^$1=" "$file" || printf '%s=%s\n' "$1" "$2" >>"$file"
}
secret() {
  value "$1" "$(openssl rand -hex "${2:-24}")"
}

# What `docker compose up` starts unless --profile is given.
value COMPOSE_PROFILES system
for store in POSTGRES POSTGRES_IDENTITY POSTGRES_CATALOG POSTGRES_EXECUTIONS POSTGRES_DISPATCHER POSTGRES_SCHEDULER \
  NATS NATS_GATEWAY NATS_CATALOG NATS_EXECUTIONS NATS_DISPATCHER NATS_SCHEDULER \
  REDIS REDIS_GATEWAY REDIS_IDENTITY REDIS_CATALOG; do
  secret "WINDLASS_${store}_PASSWORD"
done
secret WINDLASS_BOOTSTRAP_TOKEN 32
secret WINDLASS_ENCRYPTION_KEY 32
secret WINDLASS_EXECUTION_TOKEN_SECRET 32
secret WINDLASS_GRAFANA_PASSWORD
# One key for each pair of calling and called service; each service gets those of its own pairs.
for pair in GATEWAY_IDENTITY GATEWAY_CATALOG GATEWAY_EXECUTIONS GATEWAY_DISPATCHER GATEWAY_SCHEDULER \
  SCHEDULER_IDENTITY SCHEDULER_CATALOG SCHEDULER_EXECUTIONS DISPATCHER_CATALOG DISPATCHER_EXECUTIONS; do
  secret "WINDLASS_KEY_$pair" 32
done
echo "secrets: $file"
[ -n "$name" ] || exit 0

tls=$(dirname "$file")/tls
mkdir -p "$tls"
DAYS=825

# certificate FILE NAME...: a key and a certificate of the authority for these DNS names
certificate() {
  target=$tls/$1
  shift
  [ -e "$target.pem" ] && return
  names=$(for each; do printf 'DNS:%s,' "$each"; done)
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
    -keyout "$target.key" -out "$target.csr" 2>/dev/null
  {
    echo "subjectAltName=${names%,}"
    echo 'basicConstraints=critical,CA:FALSE'
    echo 'keyUsage=critical,digitalSignature'
    echo 'extendedKeyUsage=serverAuth,clientAuth'
    echo 'subjectKeyIdentifier=hash'
    # Python 3.13 refuses certificates without it.
    echo 'authorityKeyIdentifier=keyid'
  } >"$target.ext"
  openssl x509 -req -in "$target.csr" -CA "$tls/ca.pem" -CAkey "$tls/ca.key" -CAcreateserial -days $DAYS \
    -extfile "$target.ext" -out "$target.pem" 2>/dev/null
  rm "$target.csr" "$target.ext"
}

[ -e "$tls/ca.pem" ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
  -subj '/CN=Windlass authority' -addext keyUsage=critical,keyCertSign -keyout "$tls/ca.key" -out "$tls/ca.pem" 2>/dev/null
certificate service windlass
if [ ! -e "$tls/public.pem" ]; then
  certificate balancer "$name" localhost balancer
  cat "$tls/balancer.pem" "$tls/balancer.key" >"$tls/public.pem"
fi
# Containers read these as users of their own; the folder stays closed to others on this machine.
chmod 700 "$tls"
chmod 644 "$tls/ca.pem" "$tls/service.pem" "$tls/service.key" "$tls/public.pem"
echo "certificates: $tls"
