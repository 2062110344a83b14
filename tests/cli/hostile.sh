#!/bin/sh
# Names, titles and messages that would steer a terminal: no report and no message lets them through.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip "no python3 here, whose tables of Unicode this asks"
python3 "$here/hostile.py" "$jprof"
