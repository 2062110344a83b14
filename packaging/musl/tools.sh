#!/bin/sh
# Makes the compiler for musl: bin/musl-cc in the folder INTO, which may be moved afterwards.
# usage: sh tools.sh INTO MACHINE
#
# Debian's musl-gcc needs help in four things:
# - its unwinder: gcc 12's libgcc_eh.a calls _dl_find_object, which only glibc has. That of gcc 11 takes
#   dl_iterate_phdr, as on musl systems.
# - libgcc.a beside it, since gcc now looks there first and no further.
# - its specs replace *link, and so drop --eh-frame-hdr, without which the unwinder finds nothing and jemalloc
#   aborts at start, and --build-id. gcc reads a file `specs` in a -B folder.
# - the kernel's headers.
set -eu
into=$1
machine=$2

die() {
    echo "musl sysroot: $*" >&2
    exit 1
}

multiarch=$machine-linux-gnu
if [ "$machine" = "$(uname -m)" ]; then
    gcc=gcc run=musl-gcc specs=
    unwinder=/usr/lib/gcc/$multiarch/11/libgcc_eh.a headers=/usr/include asm=/usr/include/$multiarch/asm
else
    # libgcc's own atomics ask glibc which processor it is.
    # shellcheck disable=SC2016
    gcc=$multiarch-gcc run="$multiarch-gcc -mno-outline-atomics" specs=' -specs "$root/lib/musl-gcc.specs"'
    unwinder=/usr/lib/gcc-cross/$multiarch/11/libgcc_eh.a headers=/usr/$multiarch/include asm=/usr/$multiarch/include/asm
fi
[ -f "$unwinder" ] || die "no $unwinder; see packaging/deps.sh"

mkdir -p "$into/bin" "$into/lib/pkgconfig" "$into/include" "$into/tc"
ln -s "$unwinder" "$into/tc/libgcc_eh.a"
ln -s "$($gcc -print-libgcc-file-name)" "$into/tc/libgcc.a"
printf '*lib:\n+ --eh-frame-hdr --build-id\n\n' >"$into/tc/specs"
ln -s "$headers/linux" "$into/include/linux"
ln -s "$asm" "$into/include/asm"
ln -s "$headers/asm-generic" "$into/include/asm-generic"

cat >"$into/bin/musl-cc" <<END
#!/bin/sh
root=\${0%/*}/..
exec $run -B"\$root/tc/" -isystem "\$root/include" -L"\$root/lib" "\$@"$specs
END
chmod +x "$into/bin/musl-cc"
