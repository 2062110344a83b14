#!/bin/sh
# usage: ruby_forks.sh AGENT SUBJECT [DUMPS]
# A Ruby that forks without a pause, each child loading extensions, while it is asked for dumps: 20 in the normal suite,
# every fifth with a garbage collection. No child hangs, nobody dies, every dump comes.
. "$(dirname "$0")/agent_lib.sh"
dumps=${3:-20}
has_ruby || skip "no Ruby here"

conf=prof:true,lg_prof_sample:12,prof_prefix:$tmp/d/app
words=for=ruby
mkfifo end
env LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF="$conf" JPROF_AGENT="$words" ruby "$here/ruby_forks.rb" <end >said 2>cried &
pid=$!
started="$started $pid"
exec 9>end
until_true grep -q ready said
check "it is announced" until_true is_announced "$pid"

cat >dumps.py <<'END'
import json, os, re, socket, sys
pid, wanted = sys.argv[1], int(sys.argv[2])
name = re.search(r"jprof-agent:\d+:\d+:(.*) \(deleted\)", open(f"/proc/{pid}/maps").read()).group(1)
with socket.socket(socket.AF_UNIX) as client:
    client.connect("\0" + name[1:] if name[0] == "@" else name)
    replies = client.makefile("r")
    for i in range(wanted):
        client.sendall(b"dump gc=1\n" if i % 5 == 0 else b"dump\n")
        reply = json.loads(replies.readline())
        if not reply["ok"]:
            sys.exit(reply["error"])
        os.unlink(reply["dump"])
        os.unlink(reply["sidecar"])
END
check "$dumps dumps" python3 dumps.py "$pid" "$dumps"
exec 9>&-
wait "$pid"
status=$?
check "status $status: $(cat said cried)" test "$status" -eq 0
echo "$(tail -n 1 said), $dumps dumps"
finish
