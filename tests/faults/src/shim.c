/* Stands between a program and the C library, and lets one write to the disk go wrong.
 *
 *   FAULT_UNDER  only files below this folder count
 *   FAULT_AT     the number of the write point, from 1; what changes a file or a folder is one
 *   FAULT_KIND   kill: the process ends before it; torn: half of it is done, then the process ends;
 *                a number: the call fails with this errno; deaf: the call fails with it, and every one after it
 *   FAULT_ERRNO  the errno of `deaf`
 *   FAULT_MARK   a file that is made when the fault happens
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long points;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static const char *under(void) { return getenv("FAULT_UNDER"); }

static int counts_path(const char *path) {
    const char *folder = under();
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int counts_fd(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return counts_path(path);
}

static void end(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static void mark(void) {
    const char *path = getenv("FAULT_MARK");
    if (!path) return;
    int (*open_)(const char *, int, ...) = next("open");
    int (*close_)(int) = next("close");
    int fd = open_(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) close_(fd);
}

enum { GO = 0, TORN = -1 };

/* What becomes of the next point: GO, TORN, or an errno. */
static int point(void) {
    const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    if (!at || !kind) return GO;
    long number = atomic_fetch_add(&points, 1) + 1, wanted = atol(at);
    if (strcmp(kind, "deaf") == 0) {
        if (number < wanted) return GO;
        mark();
        return atoi(getenv("FAULT_ERRNO"));
    }
    if (number != wanted) return GO;
    mark();
    if (strcmp(kind, "kill") == 0) end();
    if (strcmp(kind, "torn") == 0) return TORN;
    return atoi(kind);
}

#define REFUSED(fault) do { if ((fault) > 0) { errno = (fault); return -1; } if ((fault) == TORN) end(); } while (0)

ssize_t write(int fd, const void *bytes, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = next("write");
    int fault = counts_fd(fd) ? point() : GO;
    if (fault == TORN) { real(fd, bytes, count / 2); end(); }
    REFUSED(fault);
    return real(fd, bytes, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = next("pwrite64");
    int fault = counts_fd(fd) ? point() : GO;
    if (fault == TORN) { real(fd, bytes, count / 2, offset); end(); }
    REFUSED(fault);
    return real(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
    ssize_t (*real)(int, const struct iovec *, int) = next("writev");
    int fault = counts_fd(fd) ? point() : GO;
    if (fault == TORN) { real(fd, parts, count > 1 ? count / 2 : count); end(); }
    REFUSED(fault);
    return real(fd, parts, count);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t count, unsigned flags) {
    ssize_t (*real)(int, off64_t *, int, off64_t *, size_t, unsigned) = next("copy_file_range");
    int fault = counts_fd(out) ? point() : GO;
    REFUSED(fault);
    return real(in, from, out, to, count, flags);
}

#define ON_FD(name)                                       \
    int name(int fd) {                                    \
        int (*real)(int) = next(#name);                   \
        int fault = counts_fd(fd) ? point() : GO;         \
        REFUSED(fault);                                   \
        return real(fd);                                  \
    }
ON_FD(fsync)
ON_FD(fdatasync)

int ftruncate64(int fd, off64_t length) {
    int (*real)(int, off64_t) = next("ftruncate64");
    int fault = counts_fd(fd) ? point() : GO;
    REFUSED(fault);
    return real(fd, length);
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int unlink(const char *path) {
    int (*real)(const char *) = next("unlink");
    int fault = counts_path(path) ? point() : GO;
    REFUSED(fault);
    return real(path);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = next("rename");
    int fault = counts_path(to) ? point() : GO;
    REFUSED(fault);
    return real(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags) {
    int (*real)(int, const char *, int, const char *, int) = next("linkat");
    int fault = counts_path(to) ? point() : GO;
    REFUSED(fault);
    return real(a, from, b, to, flags);
}

int link(const char *from, const char *to) {
    int (*real)(const char *, const char *) = next("link");
    int fault = counts_path(to) ? point() : GO;
    REFUSED(fault);
    return real(from, to);
}

int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = next("mkdir");
    int fault = counts_path(path) ? point() : GO;
    REFUSED(fault);
    return real(path, mode);
}

#define OPENS(name)                                                            \
    int name(const char *path, int flags, ...) {                               \
        int (*real)(const char *, int, ...) = next(#name);                     \
        mode_t mode = 0;                                                       \
        if (flags & (O_CREAT | O_TMPFILE)) {                                   \
            va_list rest;                                                      \
            va_start(rest, flags);                                             \
            mode = va_arg(rest, mode_t);                                       \
            va_end(rest);                                                      \
        }                                                                      \
        int changes = (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0;            \
        int fault = changes && counts_path(path) ? point() : GO;               \
        REFUSED(fault);                                                        \
        return real(path, flags, mode);                                        \
    }
OPENS(open)
OPENS(open64)
