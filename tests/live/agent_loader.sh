#!/bin/sh
# usage: agent_loader.sh AGENT SUBJECT LOADER [SECONDS]
# Children that load libraries while their parent's agent dumps without a pause; a few seconds in the normal suite, as
# long as SECONDS by hand.
loader=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
seconds=${4:-6}

echo 'int loaded(void) { return 1; }' >loaded.c
"${CC:-cc}" -shared -fPIC -o loaded0.so loaded.c || skip "no C compiler here"
for i in $(seq 300); do cp loaded0.so "loaded$i.so"; done

# It takes locks that a fork would leave locked, or memory of the allocator that it measures, or the time of a day.
taboo='dl_iterate_phdr|strerror|strerror_r|localtime|localtime_r|strftime|setlocale|gettext|dcgettext|getpw.*|getgr.*|getaddrinfo|syslog|fopen.*|fdopen|fclose|printf|fprintf|opendir|readdir|malloc|calloc|realloc|free|posix_memalign|asprintf|strdup|qsort'
imports() { readelf -W --dyn-syms "$agent" | awk '$7 == "UND" && NF >= 8 { sub(/@.*/, "", $8); print $8 }'; }
check "imports: $(imports | grep -xE "$taboo" | tr '\n' ' ')" eval '! imports | grep -qxE "$taboo"'
# dlopen allocates. One call may: newobj.c's, on a thread of the program that allocates an object of a Ruby loaded late.
openers=$(objdump -r "$agent.p"/*.o | awk '/file format/ { sub(/:$/, "", $1); sub(/.*\//, "", $1); file = $1 } $3 ~ /^dlopen[-+]/ { print file }')
check "dlopen is called by: $openers" test "$openers" = ruby_newobj.c.o
check "sees no imports" eval 'imports | grep -qx pthread_create'

conf=prof:true,lg_prof_sample:10,prof_prefix:$tmp/d/app
start "$loader" "$seconds" $(seq -f "$tmp/loaded%g.so" 0 300)
cat >hammer.py <<'END'
import os, re, socket, sys
name = re.search(r"jprof-agent:\d+:\d+:(.*) \(deleted\)", open(f"/proc/{sys.argv[1]}/maps").read()).group(1)
with socket.socket(socket.AF_UNIX) as client:
    client.connect("\0" + name[1:] if name[0] == "@" else name)
    replies = client.makefile("r")
    dumps = bad = 0
    try:
        while True:
            client.sendall(b"dump\n")
            line = replies.readline()
            if not line:
                break
            dumps += 1
            bad += not line.startswith('{"ok":true')
            for path in re.findall('"(?:dump|sidecar)":"(/[^"]+)"', line):
                os.unlink(path)
    except OSError:
        pass
print(dumps, "dumps,", bad, "refused")
sys.exit(bad > 0 or dumps < 10)
END
python3 hammer.py "$pid" >hammered &
hammer=$!
started="$started $hammer"
wait "$pid"
status=$?
check "dumps" wait "$hammer"
check "$(cat said)" test "$status" -eq 0
echo "$(cat said), $(cat hammered)"
finish
