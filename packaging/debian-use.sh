#!/bin/sh
# Installs the packages in a bare system, follows the README and the tutorial as a user without rights, tries the gem if there is one, and
# removes all: nothing may be left.
# usage: sh packaging/debian-use.sh DIRECTORY_OF_PACKAGES     as root in a throw-away system
set -eu

die() {
    echo "debian-use.sh: $*" >&2
    exit 1
}

quietly() {
    "$@" >/tmp/use.log 2>&1 || {
        tail -n 20 /tmp/use.log
        die "$* failed"
    }
}

install() { quietly env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@"; }
packages() { dpkg-query -W -f '${Package}\n' | sort; }
ours() { find / -xdev \( -path /proc -o -path /tmp -o -path /home -o -path /src -o -path "$debs" -o -path /cache \) -prune -o -name '*jprof*' -print; }

debs=$(CDPATH='' cd -- "$1" && pwd)
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ -z "$(ours)" ] || die "something of jprof is here already: $(ours | head -n 3)"
quietly apt-get -qq update

# ---- what a slim image needs for all but pictures ----
# Bytes of what was installed since; slim images leave documentation out.
bytes_since() {
    packages | comm -13 "$1" - | xargs -n 1 dpkg -L | sort -u | grep -vE '^/usr/share/(doc|man|lintian|locale)/' |
        while read -r file; do [ ! -f "$file" ] || [ -L "$file" ] || stat -c %s "$file"; done | awk '{ all += $1 } END { print all }'
}
recommended() { dpkg-query -W -f '${Recommends}\n' jprof | tr ',' '\n' | sed 's/ *(.*//; s/^ *//'; }
packages >/tmp/before
install "$debs"/jprof_*.deb "$debs"/jprof-agent_*.deb "$debs"/jprof-names_*.deb "$debs"/libjprof0_*.deb
# shellcheck disable=SC2046
install $(recommended | grep -vE 'jemalloc|capstone')
bytes=$(bytes_since /tmp/before)
[ "$bytes" -lt 12000000 ] || die "$bytes bytes without pictures and --disasm, more than 12 MB"
# shellcheck disable=SC2046
install $(recommended | grep capstone)
echo "installed: $(packages | comm -13 /tmp/before - | tr '\n' ' ')"
echo "$bytes bytes for everything except pictures and --disasm, $(bytes_since /tmp/before) with --disasm (capstone)"
jprof --version >/dev/null || die "jprof does not start"
[ -f /usr/share/man/man1/jprof.1.gz ] || [ -f /etc/dpkg/dpkg.cfg.d/docker ] || die "no manual page of jprof"
find /usr/share/jprof/names -name '*.jnames*' | grep -q . || die "no packs of names"

# ---- the README, as a user ----
install libjemalloc2 ruby bundler puma procps
id newcomer >/dev/null 2>&1 || quietly useradd --create-home newcomer
su newcomer -c "LC_ALL=C.UTF-8 sh $here/follow-readme.sh $here/../README.md" || die "the README does not work"

# ---- the tutorial, with its Rails application ----
install rails
su newcomer -c "LC_ALL=C.UTF-8 ruby $here/follow-tutorial.rb $here/../docs/start.md $here/../samples/rails" || die "the tutorial does not work"

# ---- the gem, which has all that it needs in itself ----
for gem in "$debs"/*.gem; do
    [ ! -f "$gem" ] || sh "$here/gem-use.sh" "$gem" || die "the gem does not work"
done

# ---- removed ----
install "$debs"/libjprof-dev_*.deb
quietly apt-get -qq -y purge jprof jprof-agent jprof-names libjprof0 libjprof-dev
[ -z "$(ours)" ] || die "left behind: $(ours)"
echo "removed: nothing is left"
