#!/bin/sh
# Builds a Debian root for sandboxes. Usage: build.sh FOLDER [GOV]
#
# The packages are in packages.txt. A mirror that keeps old states (snapshot.debian.org, or a copy of it) makes the build repeatable:
#   MIRROR=http://snapshot.debian.org/archive/debian/20261101T000000Z sandbox/image/debian/build.sh build/image
# What was taken is written to FOLDER/usr/share/bordereau/manifest.txt, and its hash is printed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=${1:?folder}
gov=${2:-}
mirror=${MIRROR:-http://deb.debian.org/debian}
suite=${SUITE:-bookworm}
: "${SOURCE_DATE_EPOCH:=1767225600}"
export SOURCE_DATE_EPOCH

command -v mmdebstrap >/dev/null || { echo "mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "this needs root, so that the root's files belong to root" >&2; exit 1; }

packages=$(grep -v '^#' "$here/packages.txt" | tr '\n' ',' | sed 's/,$//')
new=$root.new
rm -rf "$new"
mkdir -p "$(dirname "$root")"
mmdebstrap --variant=minbase --mode=root --aptopt='Apt::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --include="$packages" "$suite" "$new" "$mirror"

# Where the drivers mount; nothing inside can make these folders.
for d in proc sys dev tmp workspace run/bordereau run/control usr etc var/lib opt/bordereau/bin opt/bordereau/python; do mkdir -p "$new/$d"; done
echo sandbox >"$new/etc/hostname"
echo '127.0.0.1 localhost sandbox' >"$new/etc/hosts"
rm -rf "$new/etc/resolv.conf" "$new/etc/machine-id" "$new/root" "$new/home" "$new/var/cache/apt" "$new/var/lib/apt/lists" "$new/var/log"
mkdir -p "$new/var/log" "$new/usr/share/bordereau"
find "$new" -xdev -perm /6000 -type f -exec chmod a-s {} + # nothing gains rights inside
rm -rf "$new/var/tmp"
ln -s /tmp "$new/var/tmp"
cp "$here/../gov.py" "$new/opt/bordereau/python/gov.py"
[ -z "$gov" ] || install -m 0755 "$gov" "$new/opt/bordereau/bin/gov"
chroot "$new" dpkg-query -W -f '${Package} ${Version} ${Architecture}\n' | sort >"$new/usr/share/bordereau/manifest.txt"
find "$new" -xdev -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
rm -rf "$root"
mv "$new" "$root"
sha256sum "$root/usr/share/bordereau/manifest.txt"
