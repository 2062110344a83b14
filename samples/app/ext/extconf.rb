require "mkmf"

$CFLAGS << " -g"                          # jprof names static functions and lines from the debug info
$CFLAGS << " -fno-optimize-sibling-calls" # keeps every caller on the stack
create_makefile("leaky")
