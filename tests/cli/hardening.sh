#!/bin/sh
# What a release build carries against faults: asked of readelf, for each file that is installed, of a build made here.
# Called with the program to test, which is not looked at (it may have sanitizers), and the options of its build.
. "$(dirname "$0")/lib.sh"
for tool in meson ninja readelf cc; do command -v $tool >/dev/null || skip "no $tool here"; done
# The agent is small, and built like the rest; the rest is told by its commands.
meson setup --buildtype=release "$root" build >said 2>&1 || { tail -n 5 said && skip "no second build here"; }
agent=agent/libjprof-agent.so
ninja -C build $agent >said 2>&1 || { tail -n 20 said && exit 1; }
what=$agent
# has REGEX FILE OPTION: readelf says so
has() {
    readelf -W "$3" "build/$2" >out
    check "no $1 in $2" grep -qE "$1" out
}
has 'BIND_NOW' $agent -d
has 'GNU_RELRO' $agent -l
check "a stack that can be run" eval '! readelf -Wl build/$agent | grep GNU_STACK | grep -q E'
has '__stack_chk_fail' $agent -s
if readelf -Ws /lib/*/libc.so.6 /usr/lib/libc.so.6 2>/dev/null | grep -q '__snprintf_chk\|__memcpy_chk'; then
    has '__[a-z_]*_chk' $agent -s # not in musl
fi
object=$(ls -d build/agent/*.p/*.o | head -n 1)
object=${object#build/}
case $(uname -m) in
x86_64) has 'x86 feature: IBT, SHSTK' "$object" -n ;;
aarch64) has 'AArch64 feature: BTI, PAC' "$object" -n ;;
esac
# Every source file and every link of what is installed.
ninja -C build -t commands | grep -E ' -c ' >compiled
what="the commands"
check "few files" [ "$(wc -l <compiled)" -gt 100 ]
for flag in '-fstack-protector-strong' '-D_FORTIFY_SOURCE=[23]' '-fPI[EC]'; do
    check "files without $flag: $(grep -vcE -e " ['\"]?$flag" compiled)" [ "$(grep -vcE -e " ['\"]?$flag" compiled)" -eq 0 ]
done
ninja -C build -t commands | grep -v ' -c ' | grep -E ' -o (jeprof-c/jprof|libjprof/libjprof\.so[^ ]*|agent/[^ ]*\.so|dot/[^ ]*\.so) ' >linked
check "few links" [ "$(wc -l <linked)" -ge 3 ]
for flag in -z,relro -z,now; do
    check "links without $flag" [ "$(grep -vc -e "$flag" linked)" -eq 0 ]
done
check "the program is no PIE" eval 'grep -e "-o jeprof-c/jprof " linked | grep -q -e " -pie"'
finish
