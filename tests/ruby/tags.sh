#!/bin/sh
# The tags of ruby/lib by themselves, its Railtie, and tags under Rack, Sinatra, Rails, Sidekiq and ActiveJob, those that are installed.
# usage: sh tags.sh ROOT
root=$1
command -v ruby >/dev/null || { echo "no ruby here"; exit 77; }
ruby -I "$root/ruby/lib" "$root/tests/ruby/tags.rb" || exit 1
failures=0
ruby -I "$root/ruby/lib" "$root/tests/ruby/railtie.rb"
case $? in 0 | 77) ;; *) failures=1 ;; esac
for framework in rack sinatra rails sidekiq active_job; do
    ruby -I "$root/ruby/lib" "$root/tests/ruby/tags_web.rb" $framework
    status=$?
    [ $status -eq 0 ] && echo "$framework: as wanted"
    [ $status -eq 0 ] || [ $status -eq 77 ] || failures=$((failures + 1))
done
exit $failures
