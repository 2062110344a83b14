#!/bin/sh
# --fold=vm of a Python: the frames that say that Python code runs go, no others, and no byte.
. "$(dirname "$0")/lib.sh"
python=$(command -v /usr/bin/python3) || skip "no /usr/bin/python3 here"
find_jemalloc
cat >script.py <<'END'
class Table:
    def __init__(self, n):
        self.cells = bytearray(n)
    def __call__(self, n):
        return [bytearray(2000) for _ in range(n)]

def deep(n):
    return deep(n - 1) if n else Table(5000)

kept = [deep(10) for _ in range(50)]
kept += map(Table(1), range(20))
kept += sorted([bytearray(n) for n in range(3000)], key=lambda b: len(bytearray(b)))
END
PYTHONMALLOC=malloc profiled prof_final:true,lg_prof_sample:0,prof_prefix:p "$python" script.py
mv p.*.heap p.heap

# names FOLD: of all places in stacks; all bytes; 100 times the mean depth. A place stays or goes with what is inlined there,
# which only a Python with debug information says: import_name, for one, is no frame of calls.
names() {
    works "$jprof" --fold=$1 --collapsed --show_bytes p.heap
    sed 's/ [0-9]*$//; s/;\([^;]*\[inline\]\)/+\1/g' out | tr ';' '\n' | sort -u >names.$1
    awk '{ sum += $NF } END { printf "%d\n", sum }' out >bytes.$1
    awk '{ n = split($0, a, ";"); sum += n * $NF; all += $NF } END { printf "%d\n", 100 * sum / all }' out >depth.$1
}
names std
names vm
same "bytes" bytes.std bytes.vm
check "no frame of the interpreter before" grep -q '^_PyEval_EvalFrameDefault$' names.std
check "the interpreter's frames are still there" \
    no_line '^(_PyEval_Eval|PyEval_Eval|_PyFunction_Vectorcall|PyObject_Call)([^+]*|[^+]*[+]do_call_core.*)$' names.vm
check "stacks are not shorter: $(cat depth.std depth.vm)" [ "$(cat depth.vm)" -lt "$(cat depth.std)" ]
comm -23 names.std names.vm >gone
check "others are gone: $(tr '\n' ' ' <gone)" no_line \
    '^(PyList|PyDict|PyBytes|PyByteArray|PyUnicode|PyType|PyImport|PyModule|PyObject_(Str|Repr|Iter|Get|Set)|_PyImport)' gone
finish
