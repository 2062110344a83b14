#!/bin/sh
# The tutorial of the guide, docs/start.md, as it stands there: packaging/follow-tutorial.rb.
# usage: sh tutorial.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here, or none that this C library can load"
JPROF_AGENT_LIB=$agent JPROF_JEMALLOC=$jemalloc
export JPROF_AGENT_LIB JPROF_JEMALLOC
mkdir bin
ln -s "$jprof" bin/jprof
PATH=$tmp/bin:$PATH ruby "$here/../../packaging/follow-tutorial.rb" "$here/../../docs/start.md" "$here/../../samples/rails"
