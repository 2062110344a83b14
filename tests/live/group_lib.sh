# A control group made of files that stand in place of the system's; after agent_lib.sh. Only root can mount them.
# in_group VERSION LIMIT USED CACHE: what a command is to be begun by, to be in it and in the one above it, box.
[ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null || skip "only root can mount files over the system's"

# usage: group.sh VERSION LIMIT USED CACHE COMMAND...: the command's group and the one above it
cat >group.sh <<'END2'
version=$1 limit=$2 used=$3 cache=$4
shift 4
mount -t tmpfs none /sys/fs/cgroup
if [ "$version" = 2 ]; then
    group=/sys/fs/cgroup/box line=0::/box/app limit_in=memory.max used_in=memory.current cache_in=inactive_file none=max
else
    group=/sys/fs/cgroup/memory/box line=7:memory:/box/app cache_in=total_inactive_file
    limit_in=memory.limit_in_bytes used_in=memory.usage_in_bytes none=9223372036854771712
fi
mkdir -p "$group/app"
echo "$none" >"$group/app/$limit_in"
echo "$used" | tee "$group/$used_in" >"$group/app/$used_in"
echo "$limit" >"$group/$limit_in"
printf 'anon 1\n%s %s\n' "$cache_in" "$cache" >"$group/memory.stat"
echo 5000000 >"$group/memory.high"
echo "$line" >cgroup.txt
mount --bind cgroup.txt "/proc/$$/cgroup"
exec "$@"
END2
in_group() { echo "unshare --mount --propagation private sh group.sh $*"; }
