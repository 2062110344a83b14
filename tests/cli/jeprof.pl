#!/usr/bin/perl
# Perl jeprof, which asks binutils only once: what nm, objdump, addr2line and file said of an object file is
# kept in a folder, and the next call has it from there. All else is jeprof's own code, run as it is: most of
# the time of a call goes into the tools. perl_jeprof in lib.sh compares the first call with plain jeprof.
# usage: perl jeprof.pl JEPROF FOLDER ARGUMENTS...
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use Storable qw(nstore retrieve);

my ($jeprof, $folder) = splice(@ARGV, 0, 2);

# What a function answered to these words; asked only where the folder does not have it.
sub remembered {
    my ($ask, @words) = @_;
    my $file = "$folder/" . md5_hex(join("\0", @words));
    return retrieve($file)->[0] if -e $file;
    my $answer = scalar($ask->());
    nstore([$answer], "$file.$$");
    rename("$file.$$", $file);
    return $answer;
}

# A file that is made anew is another file.
sub identity { return (stat($_[0]))[0, 1, 7, 9] }

BEGIN {
    no warnings 'once';
    # `file -L PROGRAM`
    *CORE::GLOBAL::readpipe = sub {
        my $command = shift;
        return remembered(sub { return CORE::readpipe($command) }, 'readpipe', $command);
    };
}

open(my $in, '<', $jeprof) or die("$jeprof: $!\n");
my $text = join('', <$in>);
close($in);
$text =~ s/^Main\(\);$//m or die("$jeprof: calls no Main();\n");
$text =~ s/^my \$sep_address\b/our \$sep_address/m or die("$jeprof: has no \$sep_address\n");
eval("no strict; no warnings; package main;\n#line 1 \"jeprof\"\n$text\n1") or die($@);

{
    no strict 'refs';
    no warnings;
    my %own = map { $_ => \&{"main::$_"} } qw(ParseTextSectionHeader GetProcedureBoundaries MapToSymbols);
    *main::ParseTextSectionHeader = sub {
        my @arguments = @_;
        return remembered(sub { $own{ParseTextSectionHeader}->(@arguments) },
            'ParseTextSectionHeader', @arguments, identity($arguments[0]));
    };
    # It also sets $sep_address, with which inlined functions are found.
    *main::GetProcedureBoundaries = sub {
        my @arguments = @_;
        my $found = remembered(
            sub {
                local $main::sep_address = $main::sep_address;
                return [scalar($own{GetProcedureBoundaries}->(@arguments)), $main::sep_address];
            },
            'GetProcedureBoundaries', @arguments, $main::sep_address // '', identity($arguments[0]));
        $main::sep_address = $found->[1];
        return $found->[0];
    };
    *main::MapToSymbols = sub {
        my ($image, $offset, $addresses, $symbols) = @_;
        return if !@$addresses;
        my $found = remembered(
            sub {
                my $new = {};
                $own{MapToSymbols}->($image, $offset, $addresses, $new);
                return $new;
            },
            'MapToSymbols', $image, $offset, identity($image), @$addresses);
        # As its own does it: before what was there.
        unshift(@{ $symbols->{$_} }, @{ $found->{$_} }) for keys(%$found);
    };
}
main::Main();
