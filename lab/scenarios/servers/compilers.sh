# Two compilers without pause: each process lives for some milliseconds, and is gone before it is sampled.
compile() {
    while :; do
        echo 'int main(void) { return 0; }' | cc -O2 -x c -c -o /dev/null -
    done
}
compile &
compile
