#!/bin/sh
# A subject in one dress: every site of it has its name and line, or none.
# usage: frames.sh JPROF CHECK_FRAMES lines|functions|stripped SUBJECT
set -eu
jprof=$1 check=$2 expect=$3 subject=$(realpath "$4")

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Debug information in a file named after the build-id, below a root directory.
root=
if [ -f "$subject.debug" ]; then
    root=$dir/root
    id=$(readelf -n "$subject" | sed -n 's/.*Build ID: //p')
    debug=$root/usr/lib/debug/.build-id/$(echo "$id" | cut -c 1-2)
    mkdir -p "$root$(dirname "$subject")" "$debug"
    cp "$subject" "$root$subject"
    cp "$subject.debug" "$debug/$(echo "$id" | cut -c 3-).debug"
fi

"$subject" "$dir/s"
"$check" "$expect" "$dir/s.heap" "$dir/s.truth" ${root:+"$root"}

report() {
    "$jprof" --lines --show_bytes --fold=none ${root:+--sysroot="$root"} "$subject" "$dir/s.bare.heap" |
        sed -n '2,$s/^ *\([0-9]*\) *[^ ]* *[^ ]* *\([0-9]*\) *[^ ]* /\1 \2 /p' | LC_ALL=C sort
}
report >"$dir/got"

# A clone has the linker's name; every kind that the compiler made here is among the rows.
case $expect,$subject in
stripped,*/clones-* | stripped,*/shapes-* | *,*/shapes-clones | *,*/lambdas-*) exit 0 ;;
*,*/clones-*)
    readelf -sW "$subject" | awk '$4 == "FUNC" { print $8 }' >"$dir/symbols"
    cut -d ' ' -f 3 "$dir/got" | grep -vxFf "$dir/symbols" && exit 1
    for kind in cold isra constprop part; do
        if grep -q "^\(has_cold_part\|same_argument\|by_reference\|split\)\.\(.*\.\)*$kind" "$dir/symbols" &&
            ! grep -q "\.$kind" "$dir/got"; then
            echo "no row of a .$kind clone"
            exit 1
        fi
    done
    exit 0
    ;;
esac

# The report: these rows, in bytes, and no other.
awk -F '\t' -v expect="$expect" '
    function has(bit) { return int($6 / bit) % 2 }
    function row(name, flat) { flats[name] += flat; cums[name] += $2 }
    BEGIN { exported = 1; nameless = 2; no_fde = 4 }
    expect == "lines" && !has(nameless) {
        for (i = 7; i < NF; i += 3)
            row($i (i + 3 < NF ? " (inline)" : "") " " $(i + 1) ":" $(i + 2), i == 7 ? $2 : 0)
        next
    }
    !has(nameless) && (expect == "functions" || has(exported)) { row($(NF - 2) " ??:0", $2); next }
    {
        sub(".*/", "", $3)
        sub("[.]so$", "", $3)
        row($3 (has(no_fde) ? "+0x" $4 : "!0x" $5) (expect == "lines" ? " " $8 ":" $9 : ""), $2)
    }
    END { for (name in cums) print flats[name], cums[name], name }
' "$dir/s.truth" | LC_ALL=C sort >"$dir/expected"
diff "$dir/expected" "$dir/got"
