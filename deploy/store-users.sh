#!/bin/sh
# Prints the users of the services at NATS or at Redis, each with the permissions that it needs, as part of the
# configuration of a server of your own. The passwords are those that deploy/secrets.sh has made.
#
#   deploy/store-users.sh nats windlass.env >/etc/nats/windlass-users.conf     # nats.conf: include windlass-users.conf
#   deploy/store-users.sh redis windlass.env >/etc/redis/windlass-users.conf   # redis.conf: include /etc/redis/windlass-users.conf
set -eu

usage='usage: deploy/store-users.sh nats|redis FILE'
store=${1:?$usage}
file=${2:?$usage}
case $store in
  nats) lines='/^authorization/,/^\] }/p' ;;
  redis) lines='/^(requirepass|user) /p' ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
# The configuration in compose.yml, with $$ for $ and variables for passwords.
sed -n "/^configs:/,/^[a-z]*:\$/ { /^  $store:/,/^  [a-z]*:\$/ s/^      //p; }" "$(dirname "$0")/compose.yml" |
  sed -nE "$lines" |
  awk -v file="$file" '
    BEGIN { while ((getline line < file) > 0) { at = index(line, "="); values[substr(line, 1, at - 1)] = substr(line, at + 1) } }
    {
      while (match($0, /\$\{WINDLASS_[A-Z_]+:\?[^}]*\}/)) {
        name = substr($0, RSTART + 2, RLENGTH - 3)
        sub(/:.*/, "", name)
        if (!(name in values)) { print name " is missing in " file > "/dev/stderr"; exit 1 }
        $0 = substr($0, 1, RSTART - 1) values[name] substr($0, RSTART + RLENGTH)
      }
      gsub(/\$\$/, "$")
      print
    }'
