#!/bin/sh
# What `meson dist` runs on the copy that it packs: all in it has the commit's time and the rights that git keeps, so that a
# commit gives one tarball, whenever and with whatever umask it is made.
set -eu
time=$(git -c safe.directory='*' -C "$MESON_SOURCE_ROOT" log -1 --format=%ct)
chmod -R u=rwX,go=rX "$MESON_DIST_ROOT"
find "$MESON_DIST_ROOT" -exec touch -h -d "@$time" {} +
