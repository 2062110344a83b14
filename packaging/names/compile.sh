#!/bin/sh
# What one.sh runs inside the chroot: a package is compiled there with its own options, and where its rules allow that, its library alone,
# for that is a tenth of the work.
# usage: sh -euc "$(cat compile.sh)" compile NATIVE ARCHITECTURE SOURCE =VERSION|"" DIRECTORY
native=$1 arch=$2 source=$3 version=$4 place=$5
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
ls -d ./*/debian >/dev/null 2>&1 || apt-get -qq source "$source$version"
cd ./*/

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
    rules override_dh_auto_configure
    goals -C build_shared build_generated
    goals -C build_shared libcrypto.so.3 libssl.so.3
    ;;
sqlite3)
    rules configure-stamp
    goals sqlite3.h # its rules do not say that all need it
    goals libsqlite3.la
    ;;
*) rules build ;;
esac
touch ../done
