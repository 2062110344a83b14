#!/bin/sh
# The command line of jprof snap, without any process.
. "$(dirname "$0")/lib.sh"

refused() {
    like=$1
    shift
    is_refused "$jprof" snap "$@"
    says_like "$like"
}

is_quiet "$jprof" snap --help
for word in match children-of 'puma\[=PID\]' output label gc count every keep max-bytes symbols timeout signal trust-handler activate deactivate; do
    prints "^  --$word"
done
refused '^jprof: x: give the number of a process' x
refused '^jprof: 0: give the number of a process' 0
refused '^jprof: 12x: give the number of a process' 12x
refused '^jprof: 99999999999: give the number of a process' 99999999999
refused '^jprof: unknown option --nothing' --nothing 1
refused '^jprof: --every=x: give a time such as 60s' --every=x 1
refused '^jprof: --every=-1s: give a time' --every=-1s 1
refused '^jprof: --every=5d: give a time' --every=5d 1
refused '^jprof: --max-bytes=0: give a size' --max-bytes=0 1
refused '^jprof: --max-bytes=5X: give a size' --max-bytes=5X 1
refused '^jprof: --count=0: give a whole number above 0' --count=0 1
refused '^jprof: --label=a/b: give 1 to 64 of' --label=a/b 1
refused '^jprof: --symbols=never: give one of now\|later' --symbols=never 1
refused '^jprof: --signal=USR9: give a signal' --signal=USR9 1
refused '^jprof: --signal=65: give a signal' --signal=65 1
refused '^jprof: --trust-handler=USR2 needs --signal=USR2' --trust-handler=USR2 1
refused '^jprof: --trust-handler=USR2 needs --signal=USR2' --trust-handler=USR2 --signal=USR1 1
refused '^jprof: --dump-dir is for --trust-handler' --dump-dir=/tmp 1
refused '^jprof: --gc and --signal exclude each other' --gc --signal=USR2 1
for other in --gc --count=2 --every=1s --label=x --output=x --signal=USR2 --keep=1; do
    refused '^jprof: --activate and --deactivate make no bundle' --activate $other 1
done
refused '^jprof: .*--activate.*--deactivate' --activate --deactivate 1
refused '^jprof: --timeout: give at most 86400 seconds' --timeout=100000 1
refused '^jprof: --children-of=x: give a whole number' --children-of=x
refused '^jprof: process 2147483647: there is no such process' 2147483647
refused '^jprof: process 2147483647: is no Puma' --puma=2147483647
finish
