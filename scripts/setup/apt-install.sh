#!/bin/sh
# Installs Debian packages as root without starting anything: usage `apt-install.sh PACKAGE...`.
# Windlass runs private instances, so neither a system service nor a system database cluster is
# wanted. What this changes on the way (two small files) is put back, even when it is interrupted.
set -eu
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d
cluster_dir=/etc/postgresql-common/createcluster.d
cluster_conf=$cluster_dir/windlass-no-cluster.conf

# two installs at a time would put back each other's files
if command -v flock >/dev/null 2>&1; then
  exec 9>/run/windlass-apt.lock
  flock 9
fi

made_policy=
restore() {
  rm -f "$cluster_conf"
  # apt may have created the folder meanwhile; remove it only if it is empty and belongs to no package
  dpkg -S "$cluster_dir" >/dev/null 2>&1 || rmdir -p "$cluster_dir" 2>/dev/null || true
  if [ -n "$made_policy" ]; then rm -f "$policy"; fi
}
trap restore EXIT
trap 'exit 130' INT TERM HUP

if [ ! -e "$policy" ]; then
  made_policy=yes
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi
mkdir -p "$cluster_dir"
echo 'create_main_cluster = false' >"$cluster_conf"

apt() {
  apt-get -q -o DPkg::Lock::Timeout=120 -o Acquire::Retries=2 "$@"
}
apt update || echo 'package lists could not be refreshed; trying with those at hand'
apt install -y --no-install-recommends "$@"
