/* A preloaded library for the power-loss test: it records what a process does to the files below
 * one directory. It wraps functions of the C library and appends a line per change to a log, in the
 * order in which the changes took effect. The lines are those that recorder.rs parses.
 *
 * RECORD_ROOT is the directory, RECORD_LOG the log. The library supports Linux, and the functions
 * that the node uses. It does not see changes by others (a mapping, an asynchronous write); the
 * test then finds that the recorded bytes differ from those of the directory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of descriptors that can be recorded, more than the test's node opens. */
#define DESCRIPTORS 4096
/* Duration of a sync in microseconds: a response that does not wait for the sync is sent before the
 * sync is recorded. Nothing is really synced, as the test does not read the disk. */
#define SYNC_DELAY_US 3000

/* The exit code of a process that RECORD_EXIT_AFTER ends. */
#define EXIT_CODE 98

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static const char *root;
static size_t root_length;
/* The process ends after a line with this prefix, as if it were killed there. NULL for none. */
static const char *exit_after;
/* Whether a descriptor is one of a recorded file or directory. */
static char recorded[DESCRIPTORS];

static void die(const char *what) {
    dprintf(2, "recorder: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static void append(const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t written = syscall(SYS_write, log_file, next, count);
        if (written <= 0) {
            die("the log");
        }
        next += written;
        count -= (size_t)written;
    }
}

static void line(const char *format, ...) {
    char text[2 * PATH_MAX + 64];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text) {
        errno = ENAMETOOLONG;
        die("a line");
    }
    append(text, (size_t)length);
    if (exit_after != NULL && strncmp(text, exit_after, strlen(exit_after)) == 0) {
        _exit(EXIT_CODE);
    }
}

__attribute__((constructor)) static void begin(void) {
    root = getenv("RECORD_ROOT");
    const char *path = getenv("RECORD_LOG");
    if (root == NULL || path == NULL) {
        die("RECORD_ROOT and RECORD_LOG must be set");
    }
    root_length = strlen(root);
    exit_after = getenv("RECORD_EXIT_AFTER");
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
    log_file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
    if (log_file < 0) {
        die(path);
    }
    line("start\n");
}

static void *next_of(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        die(name);
    }
    return function;
}

#define REAL(type, name, ...)                                                                      \
    static type (*real)(__VA_ARGS__);                                                              \
    if (real == NULL) {                                                                            \
        real = (type(*)(__VA_ARGS__))next_of(name);                                                \
    }

static int is_ours(const char *path) {
    return strncmp(path, root, root_length) == 0 &&
           (path[root_length] == '/' || path[root_length] == 0);
}

static int is_recorded(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS && recorded[descriptor];
}

static int opened(int descriptor, const char *path, int flags) {
    if (descriptor >= 0 && is_ours(path)) {
        if (descriptor >= DESCRIPTORS) {
            errno = EMFILE;
            die("descriptors");
        }
        recorded[descriptor] = 1;
        line("open %d %d %d %s\n", descriptor, (flags & O_CREAT) != 0, (flags & O_TRUNC) != 0,
             path + root_length);
    }
    return descriptor;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = (flags & O_CREAT) ? va_arg(arguments, mode_t) : 0;                           \
        va_end(arguments);                                                                         \
        REAL(int, #name, const char *, int, ...)                                                   \
        pthread_mutex_lock(&order);                                                                \
        int descriptor = opened(real(path, flags, mode), path, flags);                             \
        pthread_mutex_unlock(&order);                                                              \
        return descriptor;                                                                         \
    }

OPEN(open)
OPEN(open64)

int close(int descriptor) {
    REAL(int, "close", int)
    if (!is_recorded(descriptor)) {
        return real(descriptor);
    }
    pthread_mutex_lock(&order);
    recorded[descriptor] = 0;
    line("close %d\n", descriptor);
    int result = real(descriptor);
    pthread_mutex_unlock(&order);
    return result;
}

static void written(int descriptor, off_t offset, const void *bytes, ssize_t count) {
    if (count > 0) {
        line("write %d %lld %zd\n", descriptor, (long long)offset, count);
        append(bytes, (size_t)count);
    }
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t)
    if (!is_recorded(descriptor)) {
        return real(descriptor, bytes, count);
    }
    pthread_mutex_lock(&order);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t done = real(descriptor, bytes, count);
    written(descriptor, offset, bytes, done);
    pthread_mutex_unlock(&order);
    return done;
}

#define PWRITE(name)                                                                               \
    ssize_t name(int descriptor, const void *bytes, size_t count, off_t offset) {                  \
        REAL(ssize_t, #name, int, const void *, size_t, off_t)                                     \
        if (!is_recorded(descriptor)) {                                                            \
            return real(descriptor, bytes, count, offset);                                         \
        }                                                                                          \
        pthread_mutex_lock(&order);                                                                \
        ssize_t done = real(descriptor, bytes, count, offset);                                     \
        written(descriptor, offset, bytes, done);                                                  \
        pthread_mutex_unlock(&order);                                                              \
        return done;                                                                               \
    }

PWRITE(pwrite)
PWRITE(pwrite64)

#define FTRUNCATE(name)                                                                            \
    int name(int descriptor, off_t length) {                                                       \
        REAL(int, #name, int, off_t)                                                               \
        if (!is_recorded(descriptor)) {                                                            \
            return real(descriptor, length);                                                       \
        }                                                                                          \
        pthread_mutex_lock(&order);                                                                \
        int result = real(descriptor, length);                                                     \
        if (result == 0) {                                                                         \
            line("length %d %lld\n", descriptor, (long long)length);                               \
        }                                                                                          \
        pthread_mutex_unlock(&order);                                                              \
        return result;                                                                             \
    }

FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

/* A write during a sync need not be part of it, so both begin and end of the sync are recorded. */
#define SYNC(name)                                                                                 \
    int name(int descriptor) {                                                                     \
        REAL(int, #name, int)                                                                      \
        if (!is_recorded(descriptor)) {                                                            \
            return real(descriptor);                                                               \
        }                                                                                          \
        pthread_mutex_lock(&order);                                                                \
        line("sync %d\n", descriptor);                                                             \
        pthread_mutex_unlock(&order);                                                              \
        usleep(SYNC_DELAY_US);                                                                     \
        pthread_mutex_lock(&order);                                                                \
        line("synced %d\n", descriptor);                                                           \
        pthread_mutex_unlock(&order);                                                              \
        return 0;                                                                                  \
    }

SYNC(fsync)
SYNC(fdatasync)

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *)
    pthread_mutex_lock(&order);
    int result = real(from, to);
    if (result == 0 && is_ours(from)) {
        line("rename %s\t%s\n", from + root_length, to + root_length);
    }
    pthread_mutex_unlock(&order);
    return result;
}

#define BY_PATH(name, word)                                                                        \
    int name(const char *path) {                                                                   \
        REAL(int, #name, const char *)                                                             \
        pthread_mutex_lock(&order);                                                                \
        int result = real(path);                                                                   \
        if (result == 0 && is_ours(path)) {                                                        \
            line(word " %s\n", path + root_length);                                                \
        }                                                                                          \
        pthread_mutex_unlock(&order);                                                              \
        return result;                                                                             \
    }

BY_PATH(unlink, "unlink")

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t)
    pthread_mutex_lock(&order);
    int result = real(path, mode);
    if (result == 0 && is_ours(path)) {
        line("mkdir %s\n", path + root_length);
    }
    pthread_mutex_unlock(&order);
    return result;
}
