# An application for Starman: each request counts in one of ROWS rows, and keeps the row locked for 8 ms.
use strict;
use warnings;
use DBI;

my $rows = $ENV{ROWS} || 1;
my $database;

sub {
    my ($request) = @_;
    if ($request->{PATH_INFO} ne '/healthz') {
        $database ||= DBI->connect("dbi:Pg:host=$ENV{DATABASE};user=postgres;dbname=postgres", '', '', { RaiseError => 1, AutoCommit => 1 });
        $database->begin_work;
        $database->do('UPDATE counter SET number = number + 1 WHERE id = ?', undef, 1 + $$ % $rows);
        $database->do('SELECT pg_sleep(0.008)');
        $database->commit;
    }
    return [200, ['Content-Length' => 2], ['ok']];
};
