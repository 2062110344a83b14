#!/usr/bin/perl
# What Perl's Getopt::Long makes of each beginning of each option of jeprof: lines of WORD, the option that it means, and
# its kind ("value" or "switch"). Words that jeprof finds ambiguous are left out.
# usage: perl prefixes.pl JEPROF
use strict;
use warnings;
use Getopt::Long;

my $text = do { local (@ARGV, $/) = @ARGV; <> };
$text =~ /GetOptions\((.*?)\) \|\| usage/s or die("no table of options here\n");
my %spec = map { /^([\w-]+)(.*)/ ? ($1 => $2) : () } $1 =~ /"([\w-]+[!=\w]*)"\s*=>/g;
scalar(keys(%spec)) > 40 or die("only " . scalar(keys(%spec)) . " options found\n");

for my $name (sort(keys(%spec))) {
    for my $len (1 .. length($name)) {
        my $word = substr($name, 0, $len);
        my ($meant, $unclear);
        local $SIG{__WARN__} = sub { $unclear = 1 };
        local @ARGV = ("--$word", $spec{$name} =~ /^=/ ? "1" : ());
        GetOptions(map { my $option = $_; ("$_$spec{$_}" => sub { $meant = $option }) } keys(%spec)) or $unclear = 1;
        next if $unclear || !$meant || $meant ne $name;
        print("$word $name ", $spec{$name} =~ /^=/ ? "value" : "switch", "\n");
    }
}
