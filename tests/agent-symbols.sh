#!/bin/sh
# The agent is loaded into programs of other images: it needs no younger glibc than that of Ubuntu 22.04 (2.35), and nothing but
# libc, and exports the names that newobj.c stands before, under a version that nobody asks for: the default one for musl. __isoc23_* are what headers since 2.38 make of strtol.
# usage: sh tests/agent-symbols.sh AGENT
set -eu
agent=$1
command -v objdump >/dev/null || { echo "no objdump here (Debian: binutils)" && exit 77; }
status=0
young=$(objdump -T "$agent" | sed -n 's/.*(GLIBC_\([0-9.]*\)) *\([^ ]*\)$/\1 \2/p' | grep -v ' __isoc23_' |
    awk '{ split($1, v, "."); if (v[1] > 2 || v[2] > 34) print }')
if [ -n "$young" ]; then echo "younger than glibc 2.34: $young" && status=1; fi
needs=$(readelf -dW "$agent" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libc\.so|libc\.musl-.*|libgcc_s\.so\.1)$' || true)
if [ -n "$needs" ]; then echo "needs more than libc: $needs" && status=1; fi
exported=$(nm -D --defined-only "$agent" | sed -n 's/^[0-9a-f]* [A-Za-z] //p' | grep -v '^JPROF_AGENT' | sort)
at=@
if ! readelf -dW "$agent" | grep -q 'NEEDED.*\[libc\.so\.6\]'; then at=@@; fi
expected=$(for name in rb_data_object_wrap rb_data_object_zalloc rb_data_typed_object_wrap rb_data_typed_object_zalloc \
    rb_ec_wb_protected_newobj_of rb_get_alloc_func rb_imemo_new rb_newobj_of rb_wb_protected_newobj_of rb_wb_unprotected_newobj_of; do
    echo "$name${at}JPROF_AGENT"; done)
if [ "$exported" != "$expected" ]; then echo "exports other names, or to others: $exported" && status=1; fi
[ "$(objdump -T "$agent" | grep -c 'UND')" -gt 20 ] || { echo "hardly any symbol: this test sees nothing" && status=1; }
exit $status
