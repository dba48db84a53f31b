#!/bin/sh
# Java's packages link manual pages in a folder that is left out with them.
set -eu
mkdir -p "$1/usr/share/man/man1"
