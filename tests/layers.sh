#!/bin/sh
# The rules of HACKING.md that a machine can check: which room may use which, by includes and by the symbols of the
# build's objects; what the library, the program and the agent never call; no goto, and no #if in a function. A file of more than 600 lines is a
# warning.
# usage: sh tests/layers.sh SOURCE_ROOT BUILD_ROOT
set -eu
build=$2
case $build in /*) ;; *) build=$PWD/$build ;; esac
cd "$1"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

# libjprof/ROOM: a room uses itself and those before it. A new room needs a place here.
library_rooms='base statistics machine input rubyheap model ops view render bundle answers collect outside'
# jeprof-c/ROOM, and which others it uses.
program_rooms='cli:
report: cli
answers: cli report snap
run: cli
snap: cli
doctor: cli run snap
watch: answers cli report snap
serve: answers cli report snap'

# What nobody may call, as extended regular expressions of whole names.
printing='v?f?printf|v?dprintf|__v?f?printf_chk|__v?dprintf_chk|(puts|fputs|fputc|putc|putchar|fwrite)(_unlocked)?|perror|psignal|warnx?|v?syslog|std(in|out|err)'
ending='exit|_exit|_Exit|quick_exit|abort|__assert_fail|atexit|errx?|raise|kill|longjmp'
starting='v?fork|_Fork|clone3?|posix_spawnp?|exec(l|le|lp|v|ve|vp|vpe|veat)|fexecve|system|popen|wordexp'
changing='setlocale|signal|sigaction|sigprocmask|alarm|setitimer|(set|put|unset|clear)env|f?chdir|umask|srand|rand'
allocating='malloc|calloc|realloc|reallocarray|strn?dup|v?asprintf|getline|fopen|opendir|qsort_r'

bad() {
    echo "$*"
    status=1
}

# All rooms of the library up to this one.
rooms_up_to() {
    seen=
    for room in $library_rooms; do
        seen="$seen $room"
        if [ "$room" = "$1" ]; then
            echo "$seen"
            return
        fi
    done
}

# FILE PREFIX ALLOWED_ROOMS ALLOWED_HEADERS: every quoted include of the file.
check_includes() {
    for include in $(sed -n 's/^#include "\(.*\)"/\1/p' "$1"); do
        case " $3 " in *" ${include%/*} "*) if [ -f "$2/$include" ]; then continue; fi ;; esac
        case " $4 " in *" $include "*) continue ;; esac
        bad "$1 includes $include: it may use the rooms$3, and $4"
    done
}

for folder in libjprof/*/; do
    room=$(basename "$folder")
    allowed=$(rooms_up_to "$room")
    [ -n "$allowed" ] || bad "libjprof/$room has no place among the rooms in tests/layers.sh"
    for file in "$folder"*.[ch]; do check_includes "$file" libjprof "$allowed" "jprof.h $([ "$room" != view ] || echo rules.inc) $([ "$room" != render ] || echo page.inc) $(case $room in collect | outside) echo jprof-live.h ;; esac)"; done
done

# Only dispatch_*.c and the list of commands see all rooms. Pictures are reports.
for folder in jeprof-c/*/; do
    room=$(basename "$folder")
    uses=$(echo "$program_rooms" | sed -n "s/^$room: *//p")
    echo "$program_rooms" | grep -q "^$room:" || bad "jeprof-c/$room has no place among the rooms in tests/layers.sh"
    headers="jprof.h commands.h $(cd libjprof && echo base/*.h)"
    case $room in snap | doctor | run | answers | watch | serve) headers="$headers jprof-live.h" ;; esac
    [ "$room" != report ] || headers="$headers dot.h"
    for file in "$folder"*.[ch]; do check_includes "$file" jeprof-c " $room $uses" "$headers"; done
done

for file in dot/*.[ch]; do
    check_includes "$file" . '' "jprof.h svg_css.inc svg_js.inc $(cd dot && echo *.h)"
done

# The agent is a world of its own: system headers and its own.
for file in agent/*.[ch] agent/ruby/*.[ch]; do check_includes "$file" . '' "$(cd agent && echo *.h ruby/*.h)"; done

# ---- symbols ----
# symbols FOLDER_OF_OBJECTS: SOURCE CLASS NAME SECTION of each; gcc's clones (f.cold) are f.
symbols() {
    set -- "$1"/*.o
    [ -f "$1" ] || { echo "no objects in $1" >&2; return 1; }
    nm -A -f sysv "$@" 2>/dev/null | sed -n 's/^.*\.p\/\([^ ]*\)\.o:\([^ |]*\) *|[^|]*| *\([A-Za-z]\) *|[^|]*|[^|]*|[^|]*| *\([^ ]*\) *$/\1 \3 \2 \4/p' |
        sed 's/\.\(cold\|isra\|part\|constprop\)[.0-9]* / /; s/@[A-Z0-9_.@]* / /'
}
symbols "$(ls -dt "$build"/libjprof/libjprof.so*.p | head -n 1)" >"$tmp/library"
symbols "$(ls -dt "$build"/libjprof/libjprof-live.so*.p | head -n 1)" >>"$tmp/library"
symbols "$build/libjprof/libjprof_base.a.p" >>"$tmp/library"
symbols "$build/jeprof-c/jprof.p" >"$tmp/program"
symbols "$build/dot/libdot.a.p" >"$tmp/dot"
symbols "$(ls -d "$build"/agent/libjprof-agent.so.p)" >"$tmp/agent"

# never FILE NAMES WHY [SOURCES]: no object but those of SOURCES wants one of NAMES.
never() {
    grep -E " U ($2)\$| U ($2) " "$tmp/$1" | grep -vE "^(${4:-none}) " >"$tmp/found" || return 0
    sed 's/ U / calls /' "$tmp/found"
    bad "$3"
}
never library "$printing|$ending|$starting|$changing" "the library must not print, end, start or change a process"
never library 'f?open(64)?|openat(64)?|creat(64)?' "files are opened in base/file.c, and by rooms that look at processes" \
    'base_file\.c|(collect_(below|procfs|rights|unixsock|watch)|outside_(livesource|refusal))\.c'
never library '(elf|gelf|dwarf|dwelf|dwfl)_.*' "libelf and libdw see a file only where its names are found: behind input/findnames.c" \
    'input_(dwarf|dwarfnames|dwarfsource|dwpackage_lib|ehframe|elffile|minidebug|splitranges|splitunit|symtab)\.c'
never library 'time|gettimeofday|gmtime(_r)?|localtime(_r)?|getenv|rand(om)?' "reports depend on nothing but their input" \
    'collect_agentlink\.c|input_debuginfod_lib\.c'
never program "$starting" "the program starts others only in browser.c, child.c and cmd_run.c; heapanswers.c, opener.c, picturechild.c and sandbox.c fork children that run none" \
    'cli_sandbox\.c|report_(browser|picturechild)\.c|run_child\.c|run_cmd_run\.c|serve_heapanswers\.c|snap_opener\.c'
if grep -E "^(snap_openchild|cli_confine)\.c U ($allocating|exit)\$" "$tmp/program"; then
    bad "a child that opens files, or gives up what it may, allocates nothing after the fork"
fi
never dot "$starting" "pictures start no process"
never agent "printf|puts|std(in|out|err)|exit|_exit|abort|__assert_fail|$starting|setlocale|$allocating" \
    "the agent must not allocate, print, end or start a process"
# Names alone say nothing of system calls.
if grep -lE 'SYS_(clone3?|v?fork|exit|exit_group|execve|execveat)\b' agent/*.[ch] agent/ruby/*.[ch] | grep -vx 'agent/ruby/graphchild\.c'; then
    bad "the one child of the agent is that of agent/ruby/graphchild.c"
fi

# No state outside the profile: no datum that can be written. .data.rel.ro is written by the loader alone.
awk '$4 ~ /^\.(data|bss|tdata|tbss)/ && $4 !~ /^\.data\.rel\.ro/ && $3 !~ /^(\.|_|__)/' "$tmp/library" >"$tmp/found"
if [ -s "$tmp/found" ]; then
    cat "$tmp/found"
    bad "the library keeps no state of its own"
fi

# rooms FILE TABLE: TABLE has for each room those that it may use; a symbol belongs to the room that defines it.
# The object of base/arena.c is base_arena.c.o; those without a room (main.c, version.c) see and serve all.
rooms() {
    awk '
        FNR == NR { room = $1; for (i = 1; i <= NF; i++) may[room, $i] = 1; known[room] = 1; next }
        { room = $1; sub(/_.*/, "", room); if (!(room in known)) room = "" }
        $2 ~ /^[TDBRVW]$/ { home[$3] = room; source[$3] = $1 }
        $2 == "U" { wants[++n] = room; what[n] = $3; who[n] = $1 }
        END {
            for (i = 1; i <= n; i++) {
                from = wants[i]
                to = home[what[i]]
                if (from == "" || to == "" || (from, to) in may) continue
                print who[i] " uses " what[i] " of " source[what[i]] ": " from " must not use " to
                wrong = 1
            }
            exit wrong
        }' "$2" "$1"
}
for room in $library_rooms; do echo "$room $(rooms_up_to "$room")"; done >"$tmp/library.rooms"
echo "$program_rooms" | tr -d : >"$tmp/program.rooms"
rooms "$tmp/library" "$tmp/library.rooms" || status=1
rooms "$tmp/program" "$tmp/program.rooms" || status=1
# What the table of rooms says is worth nothing where no symbol is found.
for name in library program; do
    [ "$(grep -c ' T ' "$tmp/$name")" -gt 100 ] || bad "few functions in the objects of the $name: this test sees nothing"
done

# The program and the pictures use what libjprof.map exports, and nothing else of the library; the program also has the
# base in itself.
sed -n 's/^	\(jprof_[a-z0-9_]*\);$/\1/p' libjprof/libjprof.map libjprof/libjprof-live.map | sort >"$tmp/exported"
awk '$2 ~ /^[TDBRVW]$/ { print $3 }' "$tmp/library" | sort -u >"$tmp/defined"
awk '$1 ~ /^base_/ && $2 ~ /^[TDBRVW]$/ { print $3 }' "$tmp/library" | sort -u >"$tmp/base"
{ awk '$2 == "U" { print $3 }' "$tmp/program" | sort -u | comm -23 - "$tmp/base"; awk '$2 == "U" { print $3 }' "$tmp/dot"; } | sort -u | comm -12 - "$tmp/defined" | comm -23 - "$tmp/exported" >"$tmp/found"
if [ -s "$tmp/found" ]; then
    cat "$tmp/found"
    bad "the program uses what libjprof.map does not export"
fi

# ---- the text ----
sources='agent/*.[ch] agent/ruby/*.[ch] libjprof/*.[ch] libjprof/*/*.[ch] jeprof-c/*.[ch] jeprof-c/*/*.[ch] dot/*.[ch]'
# shellcheck disable=SC2086
awk 'FNR == 1 { inside = 0 }
    /^{/ { inside = 1 }
    /^}/ { inside = 0 }
    inside && /^#(if|el|endif)/ { print FILENAME ":" FNR ": #if in a function: a variant is a file of its own"; bad = 1 }
    /^[ \t]+goto / { print FILENAME ":" FNR ": goto"; bad = 1 }
    END { exit bad }' $sources || status=1
# A warning: a file of this length may hold two thoughts. The one header that users read may be longer.
# shellcheck disable=SC2046,SC2086
wc -l $(ls $sources | grep -v '/jprof\.h$') | awk '$1 > 600 && $2 != "total" { print "warning: " $2 ": " $1 " lines, more than 600" }'
exit "$status"
