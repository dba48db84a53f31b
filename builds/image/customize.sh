#!/bin/sh
# Records what is in the image, and takes out what differs between two that were made alike.
set -eu
root=$1

mkdir -p "$root/usr/share/kafka-patch-harness"
chroot "$root" dpkg-query --show --showformat='${Package}=${Version}\n' > "$root/usr/share/kafka-patch-harness/packages"

# The key store of Java's own is written with the time in it; builds without network need none.
rm -f "$root/etc/ssl/certs/java/cacerts"
# From this host, and with the mirror's address, which may hold a password.
rm -rf "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
rm -f "$root/etc/hostname" "$root/etc/resolv.conf" "$root/etc/machine-id"
rm -rf "$root/var/log" "$root/var/cache/debconf"
rm -f "$root/var/cache/ldconfig/aux-cache" "$root"/var/lib/dpkg/*-old
