#!/bin/sh
# usage: agent_peers.sh AGENT SUBJECT [SECONDS]
# Connections of other users: they are not answered, cost little, and push nobody out.
. "$(dirname "$0")/agent_lib.sh"
seconds=${3:-2}
[ "$(id -u)" -eq 0 ] || skip "not root: nobody else can be"
cat >other.py <<'END'
import os, re, socket, sys
name = re.search(r"jprof-agent:\d+:\d+:(.*) \(deleted\)", open(f"/proc/{sys.argv[1]}/maps").read()).group(1)
os.setgroups([])
os.setuid(int(sys.argv[2]))
client = socket.socket(socket.AF_UNIX)
client.settimeout(20)
reply = b""
try:
    client.connect("\0" + name[1:] if name[0] == "@" else name)
    client.sendall(b"report\n")
    reply = client.recv(4096)
except (PermissionError, BrokenPipeError, ConnectionResetError) as error:
    print(type(error).__name__)
print("answered" if reply else "refused")
END
cat >as_user.py <<'END'
import os, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
os.execvp(sys.argv[2], sys.argv[2:])
END
# asks USER: is it answered?
asks() { python3 other.py "$pid" "$1" >answer; grep -qx answered answer; }
chmod 755 "$tmp"
chmod 777 d
for file in "$subject" "$agent" "$jemalloc"; do
    cp "$file" "$tmp" && chmod 755 "$tmp/${file##*/}"
done
subject=$tmp/${subject##*/} agent=$tmp/${agent##*/} jemalloc=$tmp/${jemalloc##*/}

# Root's, with a file and without: only what the kernel says of the peer keeps others out.
for prefix in "$tmp/d/app" "$tmp/missing/app"; do
    conf=prof:true,prof_prefix:$prefix
    start "$subject" hold wait
    check "$prefix: root is not answered" asks 0
    check "$prefix: another user is answered" eval '! asks 65534'
    check "$prefix: it could not connect: $(cat answer)" eval '! grep -q PermissionError answer'
    # Twice, for on a machine that has no time a client may come too late for an answer.
    check "$prefix: flood" eval 'python3 "$here/flood.py" "$pid" "$seconds" || python3 "$here/flood.py" "$pid" "$seconds"'
    cat check.out
    check "lives" lives "$pid"
    end "$pid"
done

# A user's: the kernel keeps others from the file.
conf=prof:true,prof_prefix:$tmp/d/app
umask 0
wrap='python3 as_user.py 65533'
start "$subject" hold wait
check "its user is not answered" asks 65533
check "root is not answered by a user's" asks 0
check "another user is answered by a user's" eval '! asks 65534'
check "another user comes to a user's socket: $(cat answer)" grep -q PermissionError answer
end "$pid"

# Root's that becomes another user: its own is answered, who was before is root.
cat >become.c <<'END'
#include <unistd.h>
int main(void) { if (setgid(65533) || setuid(65533)) return 1; sleep(100); return 0; }
END
"${CC:-cc}" -o become become.c || skip "no C compiler here"
wrap=
start "$tmp/become"
until_true asks 65533
check "its new user is not answered" asks 65533
check "root is not answered by what was root" asks 0
check "another user is answered by what was root" eval '! asks 65534'
end "$pid"
finish
