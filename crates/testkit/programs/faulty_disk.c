/* Preloaded into a program, it breaks one operation on the files whose path contains FAULT_IN: the one with the number FAULT_AT,
   counted from 1. FAULT_KIND is "eio" (only this operation fails), "enospc" (it and all later ones that need room fail) or
   "short" (a write takes half of its bytes). At the end of the program, the number of operations is appended to FAULT_COUNT. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum fault { NONE, FAIL, SHORT };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long operations;

static int concerns(const char *path)
{
    const char *part = getenv("FAULT_IN");
    return part != NULL && strstr(path, part) != NULL;
}

static int concerns_fd(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = '\0';
    return concerns(path);
}

/* Counts an operation, and says what becomes of it. */
static enum fault next(int needs_room)
{
    const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    long faulty = at == NULL ? 0 : atol(at);
    pthread_mutex_lock(&lock);
    long number = ++operations;
    pthread_mutex_unlock(&lock);
    if (faulty == 0 || kind == NULL || number < faulty)
        return NONE;
    if (strcmp(kind, "enospc") == 0 && needs_room) {
        errno = ENOSPC;
        return FAIL;
    }
    if (number > faulty)
        return NONE;
    if (strcmp(kind, "eio") == 0) {
        errno = EIO;
        return FAIL;
    }
    return strcmp(kind, "short") == 0 ? SHORT : NONE;
}

static size_t taken(enum fault fault, size_t count)
{
    return fault == SHORT && count > 1 ? count / 2 : count;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t count)
{
    enum fault fault = concerns_fd(fd) ? next(1) : NONE;
    return fault == FAIL ? -1 : REAL(write)(fd, bytes, taken(fault, count));
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    enum fault fault = concerns_fd(fd) ? next(1) : NONE;
    return fault == FAIL ? -1 : REAL(pwrite)(fd, bytes, taken(fault, count), offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    enum fault fault = concerns_fd(fd) ? next(1) : NONE;
    return fault == FAIL ? -1 : REAL(pwrite64)(fd, bytes, taken(fault, count), offset);
}

int ftruncate(int fd, off_t length)
{
    return concerns_fd(fd) && next(0) == FAIL ? -1 : REAL(ftruncate)(fd, length);
}

int ftruncate64(int fd, off64_t length)
{
    return concerns_fd(fd) && next(0) == FAIL ? -1 : REAL(ftruncate64)(fd, length);
}

int fsync(int fd)
{
    return concerns_fd(fd) && next(0) == FAIL ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return concerns_fd(fd) && next(0) == FAIL ? -1 : REAL(fdatasync)(fd);
}

int unlink(const char *path)
{
    return concerns(path) && next(0) == FAIL ? -1 : REAL(unlink)(path);
}

int rename(const char *from, const char *to)
{
    return (concerns(from) || concerns(to)) && next(1) == FAIL ? -1 : REAL(rename)(from, to);
}

int open64(const char *path, int flags, ...)
{
    mode_t mode = 0;
    if (flags & (O_CREAT | O_TMPFILE)) {
        __builtin_va_list rest;
        __builtin_va_start(rest, flags);
        mode = __builtin_va_arg(rest, mode_t);
        __builtin_va_end(rest);
        if (concerns(path) && next(1) == FAIL)
            return -1;
    }
    return REAL(open64)(path, flags, mode);
}

__attribute__((destructor)) static void count(void)
{
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path == NULL ? NULL : fopen(path, "a");
    if (file != NULL) {
        fprintf(file, "%ld\n", operations);
        fclose(file);
    }
}
