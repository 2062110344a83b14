#!/bin/sh
# What the agent stands before harms no program that is no Ruby, nor one that loads a Ruby later.
# usage: sh newobj_names.sh AGENT PROGRAM LIBRARY
set -eu
"$2" "$3" >/dev/null
LD_PRELOAD=$1 "$2" "$3"
# Does the library reach the agent at all?
LD_PRELOAD=$1 LD_DEBUG=bindings "$2" "$3" 2>&1 | grep -q "newobj_lib.*to $1.*\`rb_wb_protected_newobj_of'" ||
    { LD_DEBUG=help "$2" 2>&1 | grep -q bindings || exit 0; echo "the library does not call the agent: this test sees nothing"; exit 1; }
