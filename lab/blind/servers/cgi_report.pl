#!/usr/bin/perl
# A page that a process of its own makes for each request.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);

my $body = $ENV{QUERY_STRING} // '';
$body = sha256_hex($body) for 1 .. 500;
printf "Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", length $body, $body;
