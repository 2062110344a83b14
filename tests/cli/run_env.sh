#!/bin/sh
# jprof run --print-env: what it prints, read back by those who read such files, is what was meant.
. "$(dirname "$0")/lib.sh"
find_jemalloc
unset JPROF_AGENT JPROF_AGENT_LIB MALLOC_CONF LD_PRELOAD
library=$(realpath "$jemalloc")
odd='/a b/$x"q%s\z'"'"'#{y}$(z)`w`'
meant=prof:true,prof_active:true,lg_prof_sample:17,prof_prefix:$odd/app

# env_as FORM
env_as() {
    is_quiet "$jprof" run --no-agent --jemalloc="$jemalloc" --dir="$odd" --label=app --print-env="$1" -- true
    cp out "$1.txt"
}

# same_values TEXT FILE: FILE holds both values, one a line.
same_values() {
    printf '%s\n' "$library" "$meant" >meant
    same "$1 reads something else" meant "$2"
}

works "$jprof" run --no-agent --print-env --jemalloc="$jemalloc" --dir=/dumps --label=app -- true
prints "^export MALLOC_CONF='prof:true,.*,prof_prefix:/dumps/app'$"
exits_with 1 "$jprof" run --no-agent --print-env=nix
says_like 'give one of shell'
exits_with 1 "$jprof" run --no-agent --print-env --dir=dumps -- true
says_like 'give the absolute path'

env_as shell
sh -c '. ./shell.txt && printf "%s\n" "$LD_PRELOAD" "$MALLOC_CONF"' >got
same_values sh got

env_as procfile
sh -c '. ./procfile.txt && printf "%s\n" "$LD_PRELOAD" "$MALLOC_CONF"' >got
same_values "a reader of .env" got
# Where nothing is odd there are no quotes: docker --env-file would keep them.
run "$jprof" run --no-agent --print-env=procfile --dir=/dumps -- true
prints_no "[\"']"

# systemd's own reader, where there is one; it looks for the command too.
env_as systemd
if command -v systemd-analyze >/dev/null; then
    { printf '[Service]\nType=oneshot\nExecStart=/bin/true\n' && cat systemd.txt; } >jprof-test.service
    systemd-analyze verify ./jprof-test.service >verify 2>&1
    check "systemd complains: $(cat verify)" eval '! grep -q jprof-test verify'
fi

if command -v ruby >/dev/null; then
    # Docker's double quotes are a shell's without expansion, once $ is escaped.
    env_as docker
    ruby -rshellwords -e '
        text = File.read("docker.txt").gsub("\\\n", " ")
        words = Shellwords.split(text)
        words.shift == "ENV" or abort "no ENV"
        puts words.map { |w| w.split("=", 2) }.to_h.values_at("LD_PRELOAD", "MALLOC_CONF")' >got
    same_values docker got
    # Kubernetes turns $$ into $ after YAML was read.
    env_as helm
    ruby -ryaml -e '
        list = YAML.load(File.read("helm.txt"))["env"]
        puts list.map { |e| [e["name"], e["value"].gsub("$$", "$")] }.to_h.values_at("LD_PRELOAD", "MALLOC_CONF")' >got
    same_values YAML got
    # Folded as templates do, with another indent.
    ruby -ryaml -e '
        text = "a:\n  b:\n" + File.read("helm.txt").gsub(/^/, "    ")
        again = YAML.load(YAML.load(text)["a"]["b"].to_yaml(line_width: 20))
        puts again["env"].map { |e| e["value"].gsub("$$", "$") }' >got
    same_values "YAML written anew" got
    # systemd: C escapes in double quotes, %% is %, $ is nothing special.
    ruby -e '
        lines = File.readlines("systemd.txt", chomp: true)
        puts lines.map { |l|
            l =~ /\AEnvironment="((?:[^"\\]|\\.)*)"\z/ or abort "not one quoted word: #{l}"
            $1.gsub(/\\(.)/, "\\1").gsub("%%", "%").split("=", 2)[1] }' >got
    same_values systemd got
fi

# ---- threads by their names, where jemalloc writes them without a race: from 5.3.1 on ----
run "$jprof" run --no-agent --print-env --jemalloc="$jemalloc" --dir=/dumps -- true
case $(strings "$library" 2>/dev/null | grep -m 1 -E '^[0-9]+[.][0-9]+[.][0-9]+-') in
5.3.0-*) prints_no prof_sys_thread_name ;;
esac
# A copy that says another version stands for that one.
for version in 5.3.1:1 5.4.0:1 6.0.0:1 5.2.9:0 4.9.9:0; do
    LC_ALL=C sed "s/5[.]3[.]0-0-g/${version%:*}-0-g/" "$library" >other.so
    cmp -s "$library" other.so && break
    works "$jprof" run --no-agent --print-env --jemalloc="$PWD/other.so" --dir=/dumps -- true
    check "$version" [ "$(grep -c prof_sys_thread_name:true out)" -eq "${version#*:}" ]
done
finish
