#!/bin/sh
# jprof info on one screen, and the packages that it names: by the databases of dpkg and apk below a root, and of this
# machine beside dpkg itself. What is of another machine has no package here.
. "$(dirname "$0")/lib.sh"
find_jemalloc
command -v readelf >/dev/null || skip "no readelf here"
build prog parity.c -g -O0 -fno-optimize-sibling-calls -pthread -Wl,--build-id
build other parity.c -g -O1 -fno-optimize-sibling-calls -pthread -Wl,--build-id
strip prog other
profiled prof_active:false,prof_accum:true,lg_prof_sample:11 ./prog early.heap late.heap
id_of() {
    readelf -n "$1" | sed -n 's/.*Build ID: *//p'
}
id=$(id_of prog)
[ -n "$id" ] && [ "$id" != "$(id_of other)" ] || skip "no build-ids here"
# The same dump of a program that lies elsewhere.
sed "s,$tmp/prog,/usr/lib/shop/prog," late.heap >usr.heap
sed "s,$tmp/prog,/lib/shop/prog," late.heap >lib.heap

# root NAME FILE: a root with that file where the program lay, by both names of its folder.
root() {
    rm -rf "$1"
    mkdir -p "$1/usr/lib/shop"
    ln -s usr/lib "$1/lib"
    cp "$2" "$1/usr/lib/shop/prog"
}
dpkg() { # ROOT LIST PATH...
    mkdir -p "$1/var/lib/dpkg/info"
    into=$1/var/lib/dpkg/info/$2
    shift 2
    printf '%s\n' /. /usr "$@" >"$into"
}
apk() { # ROOT DATABASE FOLDER
    mkdir -p "$1/usr/lib/apk/db"
    printf '%s\n' "C:Q1x=" "P:other" "F:usr/lib" "R:nothing.so" "" "P:shop-libs" "V:1.2-r0" "o:shop" "F:$3" "R:before" "a:0:0:755" "R:prog" "Z:Q1y=" "" \
        >"$1/usr/lib/apk/db/$2"
}
all_of() { # ROOT DUMP
    works "$jprof" info --all "--sysroot=$1" "$2"
}

# ---- dpkg and apk, with /usr before lib or without ----
for written in /usr/lib/shop/prog /lib/shop/prog; do
    root deb prog
    dpkg deb other.list /usr/lib/shop /usr/lib/shop/prog2 /usr/lib/shop/pro /srv/usr/lib/shop/prog
    dpkg deb shop:amd64.list $written
    root alpine prog
    apk alpine installed "$(dirname ${written#/})"
    for dump in usr.heap lib.heap; do
        all_of deb $dump
        prints "stripped: apt install shop-dbgsym \\(if this is the file that ran\\), build-id $id\$"
        check "$written: the command" eval "grep -A1 -x 'all of these packages:' out | grep -qx 'apt install shop-dbgsym'"
        run "$jprof" info --sysroot=deb $dump
        check "$written, $dump: the command on a screen" grep -qx 'apt install shop-dbgsym' out
        all_of alpine $dump
        prints "stripped: apk add shop-dbg \\(if this is the file that ran\\), build-id $id\$"
        prints_no 'apt install'
    done
done
# ---- images without dpkg: status.d has a stanza for each package, and sums with its paths ----
distroless() { # ROOT NAME PACKAGE PATH...
    mkdir -p "$1/var/lib/dpkg/status.d"
    printf '%s\n' "Package: $3" 'Version: 1.2-3' 'Description: a shop' ' Package: no-field' >"$1/var/lib/dpkg/status.d/$2"
    into=$1/var/lib/dpkg/status.d/$2.md5sums
    shift 3
    printf 'd41d8cd98f00b204e9800998ecf8427e  %s\n' usr/share/doc/shop "$@" >"$into"
}
for written in usr/lib/shop/prog ./usr/lib/shop/prog lib/shop/prog /lib/shop/prog; do
    root image prog
    distroless image other other usr/lib/shop/prog2 srv/usr/lib/shop/prog
    distroless image c2hvcA shop $written
    for dump in usr.heap lib.heap; do
        run "$jprof" info --sysroot=image $dump
        check "status.d, $written, $dump: the command" grep -qx 'apt install shop-dbgsym' out
    done
done
# A name that is not fit for a command, a stanza without a name, sums without a stanza.
for package in 'shop; reboot' '' -o; do
    distroless image c2hvcA "$package" usr/lib/shop/prog
    all_of image usr.heap
    prints_no 'apt install'
done
rm image/var/lib/dpkg/status.d/c2hvcA
all_of image usr.heap
prints_no 'apt install'
# apk's database where it lay before /usr was merged.
root older prog
apk older installed usr/lib/shop
rm older/lib
mkdir -p older/lib
mv older/usr/lib/apk older/lib/
all_of older usr.heap
prints 'apk add shop-dbg '

dpkg deb libc6:amd64.list /usr/lib/shop/prog
rm deb/var/lib/dpkg/info/shop*
all_of deb usr.heap
prints 'apt install libc6-dbg '

# A command that takes several lines can be pasted as it is.
long=$(printf 'a-package-with-a-long-name%.0s' 1 2)-of-which-many-are
root deb prog
dpkg deb "$long.list" /usr/lib/shop/prog
run "$jprof" info --sysroot=deb usr.heap
check "a line is too long" eval '[ "$(wc -L <out)" -le 80 ]'
check "a line goes on without a backslash" grep -qx 'apt install \\' out
mkdir -p asked
printf '#!/bin/sh\necho "$@" >asked/words\n' >asked/apt
chmod +x asked/apt
sed -n '/^apt install/,/dbgsym$/p' out >asked/command
PATH=$tmp/asked:$PATH sh asked/command
check "the command as pasted: $(cat asked/words)" eval 'echo "install $long-dbgsym" | cmp -s - asked/words'

# ---- no package: the build-id, and who may have the symbols ----
root bare prog
all_of bare usr.heap
prints "stripped, of no package here; --debuginfod asks \\\$DEBUGINFOD_URLS for build-id $id\$"
prints_no 'apt install|apk add'

# ---- each package once, whatever number of files is of it ----
root twice prog
folder=$(dirname "$(grep -o '/[^ ]*/libjemalloc\.so[^ ]*' late.heap | head -n 1)")
mkdir -p "twice$folder"
cp -L "$jemalloc" "twice$(grep -o '/[^ ]*/libjemalloc\.so[^ ]*' late.heap | head -n 1)"
dpkg twice shop.list /usr/lib/shop/prog "$(grep -o '/[^ ]*/libjemalloc\.so[^ ]*' late.heap | head -n 1)"
run "$jprof" info --sysroot=twice usr.heap
check "a package twice: $(grep apt out)" [ "$(grep -o shop-dbgsym out | wc -l)" = 1 ]

# ---- a bundle that is read elsewhere: by the build-id ----
root deb prog
dpkg deb shop.list /usr/lib/shop/prog
works "$jprof" bundle --sysroot=deb -o x.jprof usr.heap
for words in 'bare:no' 'deb:yes' 'another:no' 'gone:no'; do
    root another other
    dpkg another shop.list /usr/lib/shop/prog
    root gone prog
    rm gone/usr/lib/shop/prog
    dpkg gone shop.list /usr/lib/shop/prog
    all_of "${words%:*}" x.jprof
    case $words in
    *:yes) prints "apt install shop-dbgsym.*build-id $id\$" ;;
    *)
        prints_no 'apt install|apk add'
        prints "build-id $id\$"
        ;;
    esac
done

# ---- databases that somebody else wrote: nothing is read outside of the root, nothing waits ----
root hostile prog
mkdir -p hostile/var/lib/dpkg away
printf '/usr/lib/shop/prog\n' >away/shop.list
ln -s "$tmp/away" hostile/var/lib/dpkg/info
all_of hostile usr.heap
prints_no 'apt install'
rm hostile/var/lib/dpkg/info
mkdir hostile/var/lib/dpkg/info
mkfifo hostile/var/lib/dpkg/info/fifo.list
mkdir hostile/var/lib/dpkg/info/folder.list
ln -s ../../../../../../away/shop.list hostile/var/lib/dpkg/info/out.list
printf '/usr/lib/shop/prog' | tr -d '\n' >"hostile/var/lib/dpkg/info/$(printf 'a\033[31m').list"
all_of hostile usr.heap
check "an escape sequence" no_line "$(printf '\033')" out
rm -f hostile/var/lib/dpkg/info/a*.list
for name in 'a;reboot' '--yes' 'a b' '$(reboot)'; do
    dpkg hostile "$name.list" /usr/lib/shop/prog
    all_of hostile usr.heap
    check "the name $name in a command" no_line 'apt install' out
    rm -f "hostile/var/lib/dpkg/info/$name.list"
done
mkdir -p hostile/lib/apk
head -c 300000 /dev/urandom >deb/var/lib/dpkg/info/noise.list
all_of deb usr.heap
prints 'apt install shop-dbgsym'

# ---- the line of a report names the command ----
works "$jprof" --sysroot=deb usr.heap
check "the last line: $(tail -n 1 err)" eval "tail -n 1 err | grep -qE \"^jprof: [0-9]+ % of the bytes shown have no function's name; prog is stripped: apt install shop-dbgsym\\\$\""

# ---- this machine: as dpkg says ----
if command -v dpkg-query >/dev/null; then
    works "$jprof" info --all late.heap
    awk '/^  \// { file = $1 } /apt install .*build-id/ { sub(/.*apt install /, ""); sub(/-dbg(sym)?[ ,].*/, ""); print $0, file }' out >named
    while read -r package file; do
        owner=$(dpkg-query -S "$file" "${file#/usr}" "/usr$file" 2>/dev/null | sed 's/[:,].*//' | sort -u)
        check "$file: of $package, dpkg says $owner" [ "$package" = "$owner" ]
    done <named
    if dpkg-query -S "$(readlink -f "$jemalloc")" >/dev/null 2>&1 && ! readelf -SW "$jemalloc" | grep -q ' \.symtab'; then
        check "no package of this machine" [ -s named ]
    fi
fi

# ---- a Puma fits a screen: one dump, and a bundle of three ----
mkdir puma
for i in 1 2 3; do cp "$cases/puma/w0.$i.heap" "puma/app.1$i.0.m0.heap"; done
works "$jprof" bundle "--sysroot=$cases/sysroot" -o puma.jprof puma/app.1?.0.m0.heap
for words in "$cases/puma/w0.3.heap" puma.jprof; do
    works "$jprof" info "--sysroot=$cases/sysroot" "$words"
    check "$words: $(wc -l <out) lines, a screen has 24 with the command and the prompt" [ "$(wc -l <out)" -le 22 ]
    check "$words: a line of more than 80 columns" no_line '.{81}' out
    prints ' 9[0-9]\.[0-9]% .*libruby-3\.1\.so\.3\.1\.2$'
    prints ' [0-9]+ more files: jprof info --all$'
    cp out screen
    run "$jprof" info --all "--sysroot=$cases/sysroot" "$words"
    check "$words: --all is not more" [ "$(wc -l <out)" -gt 40 ]
done
prints '^dump       puma.jprof:12$'
works "$jprof" info "$of_cases" "$cases/real/redmine-boot.jprof"
check "a title makes a line of more than 80 columns" no_line '.{81}' out
run "$jprof" info "$of_cases" --all "$cases/real/redmine-boot.jprof"
prints 'named by the bundle'

# ---- what it does not do is not done in silence ----
exits_with 1 "$jprof" info --svg "$cases/real/redmine-boot.jprof"
says 'jprof: info prints text, with --json JSON; --svg is for reports'
exits_with 1 "$jprof" info -o kept "$cases/real/redmine-boot.jprof"
says 'jprof: info prints on standard output: give >kept instead of -o'
finish
