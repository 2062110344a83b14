# Sourced by the tests here: their arguments are JPROF SOURCE_ROOT SCRATCH.
set -eu
jprof=$(realpath "$1") root=$2 scratch=$3
if ! command -v go >/dev/null; then
    echo "no go here (Debian: golang-go), whose pprof reads what jprof writes"
    exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch/nothing"
cd "$scratch"
export HOME="$scratch" GOCACHE="$scratch/../gocache" GOFLAGS=-mod=mod GO111MODULE=off PPROF_TMPDIR="$scratch" LC_ALL=C

die() {
    echo "$*"
    exit 1
}

# pprof never asks the network nor the files at hand for names.
pprof() {
    go tool pprof -symbolize=none "$@" 2>pprof.err || die "pprof: $(cat pprof.err)"
}

# Rows of `pprof -top` as "NAME<tab>FLAT<tab>CUM", inlined and not together: NAME, two numbers with a unit.
# usage: go_rows INDEX ARGUMENT...
go_rows() {
    index=$1
    shift
    pprof -top -nodecount=0 -nodefraction=0 -edgefraction=0 -trim=false -unit=B -sample_index="$index" "$@" >top.txt
    awk 'rows {
             name = $6
             for (i = 7; i <= NF; i++) name = name " " $i
             sub(/ \((partial-)?inline\)$/, "", name)
             flat[name] += $1; cum[name] += $4
             if (++seen[name] > 1) twice[name] = 1
         }
         $1 == "flat" && $2 == "flat%" { rows = 1 }
         END {
             for (name in flat) printf "%s\t%.0f\t%s\n", name, flat[name], name in twice ? "-" : sprintf("%.0f", cum[name])
         }' top.txt | sort
}

# Rows of jprof's text in the same form, with the names that the file has and no others. What is inlined in one place and not in another is one row in
# pprof and two here, whose cumulative values may overlap: they are not compared.
# usage: jprof_rows COUNTER ARGUMENT...
jprof_rows() {
    index=$1
    shift
    "$jprof" --fold=none --show_bytes "--sysroot=$scratch/nothing" "--$index" "$@" >text.txt 2>jprof.err || die "jprof: $(cat jprof.err)"
    awk '$1 != "Total:" {
             name = $6
             for (i = 7; i <= NF; i++) name = name " " $i
             sub(/ \(inline\)$/, "", name)
             flat[name] += $1; cum[name] += $4
             if (++seen[name] > 1) twice[name] = 1
         }
         END {
             for (name in flat) printf "%s\t%.0f\t%s\n", name, flat[name], name in twice ? "-" : sprintf("%.0f", cum[name])
         }' text.txt | sort
}

# Compares two such lists: names and flat values; cumulative ones where both lists have them.
# usage: same_rows WHAT A B
same_rows() {
    [ -s "$2" ] || die "$1: no rows"
    join -t "$(printf '\t')" -a 1 -a 2 -e MISSING -o 0,1.2,2.2,1.3,2.3 "$2" "$3" |
        awk -F '\t' -v what="$1" '
            $2 != $3 || ($4 != "-" && $5 != "-" && $4 != $5) { print what ": " $0; bad = 1 }
            END { exit bad }' || die "$1: rows differ (name, flat, flat, cum, cum)"
}
