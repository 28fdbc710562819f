#!/bin/sh
# Builds a Debian root for sandboxes. Usage: build.sh FOLDER [GOV]
#
# What is taken is pinned: packages.lock names each package with its version, and apt refuses a version that the mirror no longer has.
#   UPDATE=1 build.sh …   takes what the mirror has now, for packages.txt, and writes packages.lock anew
#   MIRROR=URL build.sh … takes them from a mirror that keeps old states, as http://snapshot.debian.org/archive/debian/20261101T000000Z
# The same packages give the same root, byte by byte; its hash is written to FOLDER.sha256 and compared with the lock's.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=${1:?folder}
gov=${2:-}
mirror=${MIRROR:-http://deb.debian.org/debian}
security=${MIRROR_SECURITY:-$mirror-security}
suite=bookworm
lock=$here/packages.lock
: "${SOURCE_DATE_EPOCH:=1767225600}"
export SOURCE_DATE_EPOCH

command -v mmdebstrap >/dev/null || { echo "mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "this needs root, so that the root's files belong to root" >&2; exit 1; }

if [ -n "${UPDATE:-}" ]; then
	packages=$(grep -v '^#' "$here/packages.txt")
else
	packages=$(awk '!/^#/ { print $1 "=" $2 }' "$lock")
fi
new=$root.new
trap 'rm -rf "$new"' EXIT
rm -rf "$new"
mkdir -p "$(dirname "$root")"
mmdebstrap --quiet --variant=minbase --mode=root --aptopt='Apt::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
	--dpkgopt='path-exclude=/usr/share/locale/*' --include="$(echo "$packages" | paste -sd, -)" "$suite" "$new" \
	"deb $mirror $suite main" "deb $mirror $suite-updates main" "deb $security $suite-security main" || {
	echo "Where apt found no version of packages.lock: UPDATE=1 takes today's and writes them down; MIRROR names a mirror that keeps old ones." >&2
	exit 1
}
installed=$(chroot "$new" dpkg-query -W -f '${Package} ${Version} ${Architecture}\n' | LC_ALL=C sort)

# Where the drivers mount; nothing inside can make these folders.
for d in proc sys dev tmp workspace run/bordereau run/control usr etc var/lib opt/bordereau/bin opt/bordereau/python; do mkdir -p "$new/$d"; done
echo sandbox >"$new/etc/hostname"
echo '127.0.0.1 localhost sandbox' >"$new/etc/hosts"
# Nothing of the build, of a host or of a person; caches that hold times or are made anew anyway.
rm -rf "$new/etc/resolv.conf" "$new/etc/machine-id" "$new/root" "$new/home" "$new/var/cache" "$new/var/lib/apt" "$new/var/log" "$new/var/tmp" \
	"$new/etc/.pwd.lock" "$new"/etc/passwd- "$new"/etc/group- "$new"/etc/shadow* "$new"/etc/gshadow* "$new"/var/lib/dpkg/*-old
find "$new/usr" -name __pycache__ -prune -exec rm -rf {} + # compiled modules hold the time of their source; see below
mkdir -p "$new/var/log" "$new/var/cache" "$new/usr/share/bordereau"
ln -s /tmp "$new/var/tmp"
find "$new" -xdev -perm /6000 -type f -exec chmod a-s {} + # nothing gains rights inside
echo "$installed" >"$new/usr/share/bordereau/manifest.txt"
find "$new" -xdev -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
# Modules are compiled by their content, not by a time, so that Python starts quickly from a root that it can't write to.
chroot "$new" python3 -m compileall -q -j 2 --invalidation-mode unchecked-hash /usr/lib/python3 /usr/lib/python3.11 || true
chroot "$new" fc-cache -s && rm -f "$new"/var/cache/fontconfig/CACHEDIR.TAG
find "$new" -xdev -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
hash=$(tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --format=posix --pax-option=delete=atime,delete=ctime \
	-C "$new" -cf - . | sha256sum | cut -d' ' -f1)

# Bordereau's own, which is of another version with each release and no part of the hash.
cp "$here/../gov.py" "$new/opt/bordereau/python/gov.py"
[ -z "$gov" ] || install -m 0755 "$gov" "$new/opt/bordereau/bin/gov"
rm -rf "$root"
mv "$new" "$root"
echo "$hash" >"$root.sha256"
if [ -n "${UPDATE:-}" ]; then
	{
		echo "# Made by: UPDATE=1 make sandbox-image. Package, version, architecture."
		echo "# root $hash"
		echo "$installed"
	} >"$lock"
	echo "$root: $(echo "$installed" | wc -l) packages written to packages.lock, root $hash"
elif grep -qx "# root $hash" "$lock"; then
	echo "$root: as packages.lock records it, root $hash"
else
	echo "$root: root $hash, not the one that packages.lock records: $(sed -n 's/^# root //p' "$lock")" >&2
	exit 1
fi
