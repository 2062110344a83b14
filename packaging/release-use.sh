#!/bin/sh
# Follows the README with nothing but the folder of a release: each of its three ways to install, and with what that installed the
# README's way to a leak, as a user without rights.
# usage: sh packaging/release-use.sh RELEASE [static] [debian] [gem]
# As root in a throw-away system with ruby, bundler, puma and libjemalloc2; without further words all three.
set -eu

die() {
    echo "release-use.sh: $*" >&2
    exit 1
}

# The README's N-th command of "Install", for this processor and this Debian.
command_of() {
    awk '/^## / { on = $0 == "## Install" } on && /^    / { sub(/^ */, ""); print }' "$readme" | sed -n "$1p" |
        sed "s/x86_64/$(uname -m)/; s/+deb12/+deb$(. /etc/os-release && echo "$VERSION_ID")/g"
}

as_newcomer() { su newcomer -c "LC_ALL=C.UTF-8 PATH=$1:/usr/local/bin:/usr/bin:/bin; export LC_ALL PATH; cd '$release'; $2"; }
leaking_line() { as_newcomer "$1" "sh $here/follow-readme.sh $readme" || die "the README does not work"; }

release=$(CDPATH='' cd -- "$1" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
readme=$here/../README.md
shift
[ $# -gt 0 ] || set -- static debian gem
[ -z "$(command -v jprof)" ] || die "there is a jprof already: $(command -v jprof)"
id newcomer >/dev/null 2>&1 || useradd --create-home newcomer
(cd "$release" && sha256sum --quiet -c SHA256SUMS) || die "other bytes than SHA256SUMS has"
for way; do
    begin=$(date +%s)
    case $way in
    static)
        as_newcomer "" "mkdir -p ~/.local && $(command_of 1 | sed 's,/usr/local,~/.local,')" || die "$(command_of 1): failed"
        leaking_line '$HOME/.local/bin'
        as_newcomer "" "rm -r ~/.local"
        ;;
    debian)
        (cd "$release" && DEBIAN_FRONTEND=noninteractive sh -c "$(command_of 2 | sed 's/apt install/apt-get -qq -y --no-install-recommends install/')" >/dev/null) ||
            die "$(command_of 2): failed"
        leaking_line ""
        apt-get -qq -y purge jprof jprof-agent jprof-names libjprof0 >/dev/null
        ;;
    gem)
        (cd "$release" && sh "$here/gem-use.sh" "$PWD"/jprof-*-"$(uname -m)"-linux.gem) || die "the gem does not work"
        ;;
    esac
    echo "$way: works after $(($(date +%s) - begin)) s"
done
