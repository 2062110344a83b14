#!/bin/sh
# A gem that Debian put into vendor_ruby has its version by the package's list of files, in a bundle, too; where nothing proves
# that the file is of that package, or the machine is another one, it has none.
# usage: gems.sh JPROF CASES
set -eu
jprof=$(realpath "$1") cases=$(realpath "$2")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

old=/usr/lib/x86_64-linux-gnu/rubygems-integration/3.1.0/extensions/x86_64-linux/3.1.0/nokogiri-1.13.10/nokogiri/nokogiri.so
new=/usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.1.0/nokogiri/nokogiri.so
sed "s:$old:$new:" "$cases/ruby31/nokogiri.1.heap" >packaged.heap
grep -q "$new" packaged.heap || { echo "the dump has no nokogiri.so"; exit 1; }
mkdir root
cp -r "$cases/sysroot/usr" root
mkdir -p "root$(dirname $new)" root/var/lib/dpkg/info
mv "root$old" "root$new"
list=root/var/lib/dpkg/info/ruby-nokogiri.list

# owner LABEL FILE WORDS...: a row of --libs has this label
owner() {
    label=$1
    shift
    "$jprof" --libs "$@" >out 2>err || { cat err; exit 1; }
    grep -q " $label\$" out || {
        failed=1
        echo "$*: no row $label:"
        head -n 5 out
    }
}
specification=/usr/share/rubygems-integration/3.1.0/specifications/nokogiri-1.13.10.gemspec

owner 'libxml2 via nokogiri' --sysroot=root packaged.heap
printf '/.\n/usr\n%s\n' $specification >$list
owner 'libxml2 via nokogiri' --sysroot=root packaged.heap # no file of it
printf '/.\n%s\n' $new >$list
owner 'libxml2 via nokogiri' --sysroot=root packaged.heap # no specification
printf '/.\n%s\n%s\n' $new /usr/share/rubygems-integration/3.1.0/specifications/nokogiri-extra-1.0.gemspec >$list
owner 'libxml2 via nokogiri' --sysroot=root packaged.heap # another gem's
rm $list
mkfifo $list
owner 'libxml2 via nokogiri' --sysroot=root packaged.heap
rm $list
printf '/.\n%s\n%s\n%s\n' $new $specification /usr/share/rubygems-integration/3.1.0/specifications/nokogiri-extra-1.0.gemspec >$list
owner 'libxml2 via nokogiri 1.13.10' --sysroot=root packaged.heap # another gem's beside it
printf '/.\n%s\n%s\n' $new $specification >$list
owner 'libxml2 via nokogiri 1.13.10' --sysroot=root packaged.heap
mv $list root/var/lib/dpkg/info/ruby-nokogiri:amd64.list
owner 'libxml2 via nokogiri 1.13.10' --sysroot=root packaged.heap

# A line of Ruby in such a gem, too: its row begins with the gem.
cp "$cases/../tables/ruby31.1.heap" lines.heap
sed 's:^\(s [0-9]*\) owners[.]rb$:\1 /usr/lib/ruby/vendor_ruby/shop/owners.rb:' "$cases/../tables/ruby31.1.heap.ruby" >lines.heap.ruby
site() { # NAME
    "$jprof" --sysroot=root lines.heap >out 2>err || { cat err; exit 1; }
    grep -q "  *$1 owners.rb:6 Leak#keep" out || {
        failed=1
        echo "no row $1:"
        head -n 5 out
    }
}
site shop
printf '/.\n%s\n%s\n' /usr/lib/ruby/vendor_ruby/shop/owners.rb /usr/share/rubygems-integration/all/specifications/shop-2.3.4.gemspec \
    >root/var/lib/dpkg/info/ruby-shop.list
site 'shop 2.3.4'

# Elsewhere a bundle says the same, whatever is there.
"$jprof" bundle --sysroot=root -o with.jprof packaged.heap 2>err || { cat err; exit 1; }
mv root/var/lib/dpkg/info/ruby-nokogiri:amd64.list kept.list
"$jprof" bundle --sysroot=root -o without.jprof packaged.heap 2>err || { cat err; exit 1; }
sed 's/1[.]13[.]10/9.9.9/' kept.list >$list
mkdir empty
owner 'libxml2 via nokogiri 1.13.10' --sysroot=empty with.jprof
owner 'libxml2 via nokogiri 1.13.10' --sysroot=root with.jprof
owner 'libxml2 via nokogiri' --sysroot=root without.jprof
exit $failed
