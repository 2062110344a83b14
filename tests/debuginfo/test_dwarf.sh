#!/bin/sh
# DWARF in the file itself: versions, compression, split.
. "$(dirname "$0")/lib.sh"
need readelf objcopy

for version in 4 5; do
    build "dwarf$version" "-gdwarf-$version"
    expect lines "dwarf$version" ''
done

for way in zlib zlib-gnu; do
    build "$way" -gdwarf-5 "-gz=$way"
    if ! readelf -SW "$way/bin/subject" | grep -qE '\.zdebug_info|\.debug_info.* C '; then
        # Newer compilers do not know the old GNU form any more.
        [ "$way" = zlib-gnu ] || fail "-gz=$way compressed nothing"
        continue
    fi
    expect lines "$way" ''
done

# Pressed together with many others sections grow large enough for zstd to be of use.
build zstd -gdwarf-5 -g3
if objcopy --compress-debug-sections=zstd zstd/bin/subject 2>objcopy.log &&
    readelf -tW zstd/bin/subject | grep -q ZSTD; then
    "$FRAMES" zstd/truth.heap >got
    if grep -q 'compressed with zstd' got; then
        expect functions zstd 'is compressed with zstd, which this libdw cannot read'
        echo "zstd: not with this libdw; said so"
    else
        expect lines zstd ''
    fi
else
    echo "zstd: objcopy cannot: $(head -n 1 objcopy.log)"
fi

# A compressed section that is damaged: the symbols still name.
build damaged -gdwarf-5 -gz=zlib
offset=$(readelf -SW damaged/bin/subject | sed -n 's/.* \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
printf '\377\377\377\377\377\377\377\377' |
    dd of=damaged/bin/subject bs=1 seek=$((0x$offset + 26)) conv=notrunc status=none
expect functions damaged '.debug_info of'

for version in 4 5; do
    dir=split$version
    build $dir "-gdwarf-$version" -gsplit-dwarf
    ls $dir/obj/*.dwo >/dev/null || fail "-gsplit-dwarf made no .dwo"
    expect lines $dir ''

    # Beside the program, as libdw looks first.
    mv $dir/obj/*.dwo $dir/bin
    expect lines $dir ''

    # One of two is gone: its functions are known by their symbols, the others in full.
    mkdir $dir/away
    mv $dir/bin/part.dwo $dir/away
    expect functions $dir "$work/$dir/obj/part.dwo is missing"
    "$FRAMES" $dir/truth.heap | grep -q '^1034 inner .* in middle .* in two_deep ' ||
        fail "the .dwo that is there is not used"
    mv $dir/bin/subject.dwo $dir/away
    expect functions $dir 'and 1 more'

    # The wrong one.
    cp $dir/away/subject.dwo $dir/bin/part.dwo
    cp $dir/away/subject.dwo $dir/bin
    expect functions $dir 'part.dwo is of another build, or damaged'
    head -c 500 $dir/away/part.dwo >$dir/bin/part.dwo
    expect functions $dir 'part.dwo is of another build, or damaged'
    rm $dir/bin/part.dwo

    # There, but nobody can open it: no word of a file that is missing.
    ln -s part.dwo $dir/obj/part.dwo
    expect functions $dir "$work/$dir/obj/part.dwo cannot be opened: "
    rm $dir/obj/part.dwo

    # What stands there is never opened, only looked at: opening a FIFO would hang.
    mkfifo $dir/obj/part.dwo
    expect functions $dir 'part.dwo is no regular file'
    rm $dir/obj/part.dwo $dir/bin/subject.dwo

    # All of them in one package; dwp of binutils 2.40 knows DWARF 4 only.
    mv $dir/away/*.dwo $dir/obj
    if (cd $dir/obj && dwp -e ../bin/subject -o ../bin/subject.dwp) >dwp.log 2>&1 ||
        (cd $dir/obj && llvm-dwp -e ../bin/subject -o ../bin/subject.dwp) >dwp.log 2>&1; then
        mv $dir/obj/*.dwo $dir/away
        "$FRAMES" $dir/truth.heap >got
        if grep -q package got; then
            expect functions $dir 'subject.dwp is a DWARF package, which this libdw cannot read'
            echo "dwp, DWARF $version: not with this libdw; said so"
        else
            expect lines $dir ''
        fi
    else
        echo "no dwp, or it cannot pack DWARF $version: $(head -n 1 dwp.log)"
    fi
done

# Only the user's word makes jprof look elsewhere.
nothing=$("$JPROF" info --all dwarf5/truth.heap | sed -n '/what would name/,$p')
[ -z "$nothing" ] || fail "advice without need: $nothing"
