#!/bin/sh
# jprof snap and an agent that does not do as it should: one line, exit 1, nothing made; and never a file that is not
# the process's own.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_fakes

# refuses LIKE OPTIONS...: snap of $pid
refuses() {
    like=$1
    shift
    exits_with 1 "$jprof" snap "$pid" -o x.jprof "$@"
    says_like "^jprof: process $pid: $like"
    check "a file was made" [ ! -e x.jprof ]
    nothing_like . jprof-part
}

# refuses_as LIES LIKE: of an agent that lies so; the process lives on.
refuses_as() {
    fake "$1"
    refuses "$2"
    lives "$pid"
    stop "$pid"
    rm -rf d
    mkdir d
}

# takes OPTIONS...
takes() {
    rm -f x.jprof
    works "$jprof" snap "$pid" -o x.jprof "$@"
    cp err said.err
    has x.jprof "$pid/dump.heap"
    has x.jprof "$pid/agent.json"
    tar xOf x.jprof "$pid/dump.heap" >inside.heap
    same "it is another dump" inside.heap "$good"
    tar xOf x.jprof "$pid/agent.json" >inside.json
    check "it is another side-car" grep -q "\"pid\": $pid" inside.json
    rm -f x.jprof
}

# ---- files, of an agent that knows nothing else ----------------------------------------------------------------
fake honest
takes --keep-dumps
check "the dump is gone" [ -e "d/$next" ]
check "its side-car is gone" [ -e "d/$next.json" ]
rm -f d/app.*
works "$jprof" snap "$pid" -o x.jprof --gc
says "jprof: process $pid: garbage was not collected (timed out); dumped without"
no_dumps d
rm -f x.jprof
exits_with 1 "$jprof" snap "$pid" -o x.jprof --signal=USR2 --timeout=1
says "jprof: process $pid: no dump app.$pid.*.heap appeared within 1 s of the signal; give more with --timeout" \
    "jprof: process $pid: its agent's last error: no room at all"
stop "$pid"

fake abstract
takes
stop "$pid"

# What is asked for: with --gc an agent of a Ruby counts objects, too. One that cannot is asked for none, without a word.
# asks PATTERN LIES OPTION...
asks() {
    pattern=$1
    fake "$2,noted"
    shift 2
    works "$jprof" snap "$pid" -o x.jprof "$@"
    check "asked for: $(cat asked.words)" grep -qE -e "$pattern" asked.words
    stop "$pid"
    rm -f x.jprof d/app.*
}
asks 'gc=1.* objects=1|objects=1.* gc=1' objects --gc
check "more than one line" [ "$(wc -l <err)" -eq 1 ]
asks '^dump( (fds|tables|timeout|gc)=[0-9]+)*$' objects --gc --no-objects
asks '^dump( (fds|tables|timeout)=[0-9]+)*$' objects
asks 'objects=1' objects --objects
asks '^dump( (fds|tables|timeout|gc)=[0-9]+)*$' honest --gc
check "more than one line: $(cat err)" [ "$(wc -l <err)" -eq 1 ]
fake inactive
works "$jprof" snap "$pid" -o x.jprof
says "jprof: process $pid: is not sampling (prof_active:false): the dump holds what was sampled before"
rm -f x.jprof
stop "$pid"

# ---- descriptors ---------------------------------------------------------------------------------------------------
# No file is made, the memfds' offsets are the process's business, and --keep-dumps wants files.
fake fds
takes
no_dumps d
takes --keep-dumps
check "no file was made for --keep-dumps" [ "$(ls d | grep -c '^app\.')" -eq 2 ]
stop "$pid"
rm -f d/app.*
fake fds,why
takes
cp said.err err
says "jprof: process $pid: its agent made the dump in files, not in memory: a test says so"
no_dumps d
stop "$pid"
refuses_as fds,one "its agent made a dump, but does not hand over what it says"
refuses_as fds,three "its agent hands over descriptors that it should not"
refuses_as fds,many "its agent hands over descriptors that it should not"
refuses_as fds,late "its agent hands over descriptors that it should not"
refuses_as fds,uninvited "its agent hands over descriptors that it should not"
refuses_as fds,fifo "its agent handed over something for app.* that is no memfd"
refuses_as fds,opened-directory "its agent handed over something for app.* that is no memfd"
refuses_as fds,socket "its agent handed over something for app.* that is no memfd"
# A file of a tmpfs is like a memfd that nobody sealed.
case $(stat -f -c %T .) in
tmpfs) refuses_as fds,disk "its agent handed over something for app.* that is a memfd that is not sealed" ;;
*) refuses_as fds,disk "its agent handed over something for app.* that is no memfd" ;;
esac
refuses_as fds,writable "its agent handed over something for app.* that is a memfd that is not sealed"
refuses_as fds,slash "its agent made a dump, but gives it another name"
refuses_as fds,name "its agent made a dump, but gives it another name"

# ---- tables of Ruby stacks ------------------------------------------------------------------------------------
# takes_table OPTIONS...
takes_table() {
    works "$jprof" snap "$pid" -o x.jprof "$@"
    has x.jprof "$pid/frames"
    check "it is another table" [ "$(tar xOf x.jprof "$pid/frames" | sed -n 's/^process \([0-9]*\).*/\1/p')" = "$pid" ]
    rm -f x.jprof
}
fake fds,tables
takes_table
no_dumps d
takes_table --keep-dumps
check "the dump, its side-car or its table is gone" [ "$(ls d | grep -c '^app\.')" -eq 3 ]
stop "$pid"
rm -f d/app.*
fake tables
: >d/other.ruby
takes_table
no_dumps d
check "another table was removed" [ -e d/other.ruby ]
rm d/other.ruby
takes_table --keep-dumps
check "the dump, its side-car or its table is gone" [ "$(ls d | grep -c '^app\.')" -eq 3 ]
stop "$pid"
rm -f d/app.*
refuses_as fds,tables,unnamed "its agent made a dump, but does not hand over what it says"
refuses_as fds,tables,misnamed "its agent made a dump, but does not give its table the same name with .ruby"
refuses_as fds,tables,three "its agent hands over descriptors that it should not"
for memory in "" fds,; do
    refuses_as "${memory}tables,other-table" "the table app.*heap.ruby is not taken: it is of another dump"
    refuses_as "${memory}tables,foreign-table" "the table app.*heap.ruby is not taken: it is of another process"
    refuses_as "${memory}tables,no-table" "the table app.*heap.ruby is not taken: it is no table"
done

# ---- no answer, or a wrong one --------------------------------------------------------------------------------------
fake silent
refuses "its agent does not answer in time; give more with --timeout" --timeout=1
lives "$pid"
stop "$pid"
refuses_as hangup "its agent hung up without an answer"
fake die
refuses "its agent hung up without an answer: the process ended, or began another program"
# An exec in the middle harms nobody.
fake exec
refuses "its agent (hung up without an answer|has hung up)"
until_true 20 sh -c "tr '\\0' ' ' <'/proc/$pid/cmdline' | grep -q '^sleep 600'" || fail "it is no sleep"
lives "$pid"
stop "$pid"
refuses_as error "its agent says: the dump failed:.x0aNo space left on device"
refuses_as endless "its agent answers without end"
refuses_as protocol "its agent speaks protocol 2, this jprof 1"
fake pid
refuses "the agent that it names is that of process $((pid + 1))"
stop "$pid"
refuses_as ticks "has ended, and another has its pid"
refuses_as device "its agent cannot be reached at /dev/null: .*socket"
refuses_as directory "its agent cannot be reached at $tmp/d: .*socket"
refuses_as instead "its agent: process [0-9]* answers in its place"

# ---- files that are none of its dumps ------------------------------------------------------------------------
refuses_as slash "the side-car app.* is not taken: it is of another dump"
refuses_as name "its agent made a dump, but gives it another name than PREFIX.PID.SEQ.jN.heap"
refuses_as elsewhere "its agent made a dump, but does not give its side-car the same name with .json"
refuses_as planted "its file app.* cannot be read: No such file or directory"
refuses_as no-sidecar "its file app.*heap.json cannot be read: No such file or directory"
for memory in "" fds,; do
    refuses_as "${memory}other-pid" "the side-car app.* is not taken: it is of another process"
    refuses_as "${memory}other-start" "the side-car app.* is not taken: it is of another process"
    refuses_as "${memory}other-dump" "the side-car app.* is not taken: it is of another dump"
    refuses_as "${memory}old" "the side-car app.* is not taken: the dump was made before it was asked for"
    fake "${memory}garbage"
    exits_with 1 "$jprof" snap "$pid" -o x.jprof
    says_like '^jprof: app.*heap.json'
    stop "$pid"
    rm -f d/app.*
done

# refuses_planted COMMAND...: makes what is the dump, $plant; it is still there afterwards.
refuses_planted() {
    fake planted
    plant=d/$next
    "$@"
    refuses "its file $next cannot be read: it is not a regular file"
    check "what stood there is gone" [ -e "$plant" ]
    stop "$pid"
    rm -rf d
    mkdir d
}
plant_fifo() { mkfifo "$plant"; }
plant_link() { ln -s "$good" "$plant"; }
plant_directory() { mkdir "$plant"; }
refuses_planted plant_fifo
refuses_planted plant_link
refuses_planted plant_directory
fake planted-sidecar
ln -s "$good" "d/$next.json"
refuses "its file $next.json cannot be read: it is not a regular file"
stop "$pid"
rm -rf d
mkdir d
good=$tmp/text.heap
echo 'no dump' >text.heap
fake honest
exits_with 1 "$jprof" snap "$pid" -o x.jprof
says_like '^jprof: app.*heap'
check "a file was made" [ ! -e x.jprof ]
stop "$pid"
finish
