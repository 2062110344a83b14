#!/bin/sh
# jprof reads what Go writes: a heap profile of a Go program, and pprof's own copies of profiles.
. "$(dirname "$0")/common.sh"

cat >held.go <<'END'
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var held [][]byte

//go:noinline
func keepRows(n int) {
	for i := 0; i < n; i++ {
		held = append(held, make([]byte, 4096))
	}
}

func main() {
	runtime.MemProfileRate = 1
	keepRows(500)
	runtime.GC()
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.Lookup("heap").WriteTo(file, 0); err != nil {
		panic(err)
	}
	file.Close()
	runtime.KeepAlive(held)
}
END
go list os >/dev/null 2>&1 || { echo "go is here without its library, of which a program is built" && exit 77; }
go build -o held held.go || die "go build failed"
./held go.pb.gz

for counter in inuse_space inuse_objects alloc_space alloc_objects; do
    go_rows $counter go.pb.gz >go.rows
    jprof_rows $counter go.pb.gz >jprof.rows
    same_rows "Go's heap $counter" go.rows jprof.rows
done
grep -q '^main.keepRows	' go.rows || die "no main.keepRows: $(head -n 3 go.rows)"
space=$("$jprof" --show_bytes go.pb.gz 2>/dev/null | awk '$6 == "main.keepRows" { print $1 }')
[ "$space" -ge 2048000 ] || die "main.keepRows holds $space bytes, and 500 x 4096 are kept"
"$jprof" --lines go.pb.gz | grep -q 'main.keepRows .*/held.go:14' || die "no line: $("$jprof" --lines go.pb.gz | head -n 3)"
"$jprof" info go.pb.gz >info.txt 2>&1 || die "info: $(cat info.txt)"
grep -q '^format *profile.proto, a sample every 1 bytes' info.txt || die "info: $(head -n 3 info.txt)"

# pprof's copy of Go's profile, and of jprof's.
"$jprof" --proto -o mine.pb.gz "--sysroot=$root/samples/cases/sysroot" "$root/samples/cases/ruby31/iseq.1.heap" 2>/dev/null
for file in go mine; do
    pprof -proto -output=copy.pb.gz $file.pb.gz
    jprof_rows inuse_space $file.pb.gz >a
    jprof_rows inuse_space copy.pb.gz >b
    same_rows "pprof's copy of $file" a b
done
