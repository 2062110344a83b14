#!/bin/sh
# What one.sh runs inside the chroot: a package is compiled there with its own options, and where its rules allow that, its library alone,
# for that is a tenth of the work.
# usage: sh -euc "$(cat compile.sh)" compile NATIVE ARCHITECTURE SOURCE =VERSION|"" DIRECTORY LIBRARY...
native=$1 arch=$2 source=$3 version=$4 place=$5
shift 5
export DEBIAN_FRONTEND=noninteractive DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" DEB_BUILD_PROFILES='nocheck nodoc nopython'
if [ "$arch" != "$native" ]; then
    dpkg --add-architecture "$arch"
    apt-get -qq update
    apt-get -qq -y install "crossbuild-essential-$arch"
    DEB_BUILD_PROFILES="$DEB_BUILD_PROFILES cross" CONFIG_SITE=/etc/dpkg-cross/cross-config.$arch
    export CONFIG_SITE
fi
mkdir -p "$place" && cd "$place"
apt-get -qq -y -a "$arch" -P "$(echo "$DEB_BUILD_PROFILES" | tr ' ' ,)" build-dep "$source$version"

# Some mirrors list a package and have not got its .dsc. What that names apt has fetched and checked all the same.
unpacked() {
    tar -xf "$(ls ./*.orig.tar.* | grep -v '\.asc$')"
    cd ./*/
    tar -xf ../*.debian.tar.*
    [ -f debian/patches/series ] || return 0
    grep -v '^#' debian/patches/series | while read -r patch _; do
        [ -z "$patch" ] || patch -p1 -s <"debian/patches/$patch"
    done
}

if apt-get -qq source "$source$version"; then
    cd ./*/
else
    unpacked
fi

rules() {
    dpkg-architecture -a "$arch" -c debian/rules "$@"
}

prepared() {
    dpkg-architecture -a "$arch" -c dh_update_autotools_config
    dpkg-architecture -a "$arch" -c dh_autoreconf
}

goals() {
    make -j"$(nproc)" "$@"
}

exec >../log 2>&1
case $source in
libxml2)
    prepared
    rules doconfigure-main
    goals -C builddir/main libxml2.la
    ;;
openssl)
    # Its rules take the flags from dh, which is not run here.
    DEB_BUILD_MAINT_OPTIONS=$(sed -n 's/^export DEB_BUILD_MAINT_OPTIONS *= *//p' debian/rules)
    export DEB_BUILD_MAINT_OPTIONS
    eval "$(dpkg-architecture -a "$arch" -c dpkg-buildflags --export=sh)"
    rules override_dh_auto_configure
    goals -C build_shared build_generated
    goals -C build_shared libcrypto.so.3 libssl.so.3
    ;;
sqlite3)
    rules configure-stamp
    goals sqlite3.h # its rules do not say that all need it
    goals libsqlite3.la
    ;;
ruby*)
    if [ "$arch" = "$native" ]; then
        rules build-arch
    else # libruby alone
        prepared
        rules override_dh_auto_configure
        goals "$@"
    fi
    ;;
*) rules build-arch ;;
esac
touch ../done
