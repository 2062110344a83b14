#!/bin/sh
# The rules of HACKING.md that a machine can check: which folder may include which, that the program
# uses the public header alone, and how long functions and files may be.
# usage: sh tests/layers.sh SOURCE_ROOT
set -eu
cd "$1"
status=0

bad() {
    echo "$*"
    status=1
}

# FOLDER ALLOWED...: every quoted include of the folder is jprof.h or lies in an allowed one.
check() {
    folder=$1
    shift
    for file in "libjprof/$folder"/*.[ch]; do
        for include in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
            case " $* jprof.h " in
            *" ${include%/*} "*) ;;
            *) bad "$file includes $include: $folder may use only: $*" ;;
            esac
        done
    done
}

check base base
check statistics base statistics
check input base statistics input
check model base statistics input model
check ops base statistics input model ops
check render base statistics input model ops render
check bundle base statistics input model ops render bundle
check collect base statistics input model ops render bundle collect

# The program: rooms around what all commands share. Only main.c and the list of commands see them all.
room() {
    folder=$1
    shift
    for file in "jeprof-c/$folder"/*.[ch]; do
        for include in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
            case " $* " in
            *" ${include%/*} "*) [ -f "jeprof-c/$include" ] || bad "$file includes $include: jprof.h alone of the library" ;;
            *) case $include in
                jprof.h | commands.h) ;;
                dot.h) [ "$folder" = report ] || bad "$file includes $include: pictures are reports" ;;
                *) bad "$file includes $include: $folder may use only: $*" ;;
                esac ;;
            esac
        done
    done
}

room cli cli
room report cli report
room run cli run
room snap cli snap
room doctor cli run snap doctor

for file in dot/*.[ch]; do
    for include in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
        case $include in
        jprof.h | svg_css.inc | svg_js.inc) ;;
        *) [ -f "dot/$include" ] || bad "$file includes $include: only jprof.h of the library" ;;
        esac
    done
done

# The agent is a world of its own: system headers and its own.
for file in agent/*.[ch]; do
    for include in $(sed -n 's/^#include "\(.*\)"/\1/p' "$file"); do
        [ -f "agent/$include" ] || bad "$file includes $include: only its own headers"
    done
done
if grep -nE '\b(malloc|calloc|realloc|strdup|asprintf|fopen|opendir|exit|abort|system|popen|fork)[[:space:]]*\(' agent/*.c; then
    bad "the agent must not allocate, exit or start a process"
fi

# The library never prints, exits, or starts a process.
if grep -nE '\b(printf|puts|putchar|exit|abort|system|popen|execve?|execlp?|execvp?|fork)[[:space:]]*\(' libjprof/*.c libjprof/*/*.c; then
    bad "the library must not print, exit or start a process"
fi

# The program runs no shell; a child is spawned, and only "jprof run" becomes another program. One child runs no program:
# it opens files with fewer rights.
if grep -nE '\b(system|popen|wordexp|execlp?e?|execvp?e|execv)[[:space:]]*\(' jeprof-c/*.c jeprof-c/*/*.c dot/*.c ||
    grep -nE '\bv?fork[[:space:]]*\(' $(ls jeprof-c/*.c jeprof-c/*/*.c dot/*.c | grep -v '^jeprof-c/snap/opener.c$') ||
    grep -nE '\b([cm]alloc|realloc|strdup|asprintf|fopen|opendir|exit)[[:space:]]*\(' jeprof-c/snap/openchild.c ||
    grep -nE '\b(posix_spawnp?|execvp)[[:space:]]*\(' $(ls jeprof-c/*.c jeprof-c/*/*.c dot/*.c | grep -vE '/(browser|child|cmd_run)\.c$'); then
    bad "the program must not start others, but in browser.c, child.c, cmd_run.c and opener.c, whose child allocates nothing"
fi

wc -l agent/*.[ch] libjprof/*/*.[ch] jeprof-c/*.[ch] jeprof-c/*/*.[ch] dot/*.[ch] | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines, 800 at most"; bad = 1 } END { exit bad }' || status=1
awk 'FNR == 1 { start = 0 }
     /^{/ { start = FNR }
     /^}/ { if (start && FNR - start > 100) { print FILENAME ":" start ": a function of " FNR - start " lines, 100 at most"; bad = 1 } start = 0 }
     END { exit bad }' agent/*.c libjprof/*/*.c jeprof-c/*.c jeprof-c/*/*.c dot/*.c || status=1
exit "$status"
