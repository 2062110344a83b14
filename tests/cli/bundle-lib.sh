# What the tests of bundles share; after lib.sh.

command -v zstd >/dev/null || skip "no zstd here to unpack bundles with"

# Those that show all of the names and values, and those that show a part or another view of them.
essential=':--proto:--raw:--errors --cum:--lines'
others='--libs:--cum:--files:--addresses:--collapsed:--full-names:--fold=none:--fold=vm:--inuse_objects --top=5:--alloc_space'
others="$others:--thread=*:--proto --normalize-addresses:--focus=m --ignore=zz"

# The --sysroot with the files of a dump; none: they are this machine's.
near=

# reports DUMP FAR BUNDLE [OPTIONS:OPTIONS...]: these reports on both agree, and so does what is said of them; all
# reports where none are named.
reports() {
    compared=${4-$essential:$others}:
    while [ -n "$compared" ]; do
        options=${compared%%:*}
        compared=${compared#*:}
        one_of 3 || continue
        # shellcheck disable=SC2086
        timeout 300 "$jprof" $options ${near:+"$near"} "$1" >dump.out 2>dump.err </dev/null
        # shellcheck disable=SC2086
        run "$jprof" $options "$2" "$3"
        same "other output than for the dump" dump.out out
        if [ "$options" != --alloc_space ]; then check "nothing to compare" [ -s out ]; fi
        sed "s,$1,DUMP,g" dump.err | without_packages | sort >dump.said
        cat err doubts | sed "s,$3:[a-z0-9-]*,DUMP,g; s,$3,DUMP,g" | without_packages | sort >bundle.said
        same "other words than for the dump" dump.said bundle.said
    done
    timeout 300 "$jprof" info --all ${near:+"$near"} "$1" 2>/dev/null | tail -n +2 | without_packages >dump.out
    run "$jprof" info --all "$2" "$3"
    prints '^members    1$'
    prints 'named by the bundle'
    case $2 in --sysroot=*/empty) prints_no 'apt install|apk add' ;; esac
    awk 'found { print } /^dump / { found = 1 }' out | without_packages >bundle.out
    same "other information than for the dump" dump.out bundle.out
}

# What is known of packages belongs to the machine that reads: it goes.
without_packages() {
    sed -e 's/stripped: ap[tk] [a-z]* [^ ]*\( (if this is the file that ran)\)\{0,1\}, build-id/build-id/' \
        -e 's/stripped, of no package here; .* for build-id/build-id/' -e '/^all of these packages:$/,$d' \
        -e "s/have no function's name; .*/have no function's name/"
}

# magic_of FILE: its first two bytes.
magic_of() {
    head -c 2 "$1" | od -An -tx1 | tr -d ' '
}

# tar_of BUNDLE: its archive, unpacked
tar_of() {
    case $(magic_of "$1") in
    1f8b) gzip -dc <"$1" ;;
    *) zstd -dc <"$1" ;;
    esac
}
