/* A disk that a test makes slow, hanging or broken, for LD_PRELOAD: delays or fails the syncs,
 * writes and reads of the files whose path contains a given text, in all threads or in those of one
 * name. Counts the calls that find the disk full. Also moves the system clock.
 *
 * The environment variable SLOW_DISK_CONTROL names a file that the test writes and this library
 * maps, so a change has effect on the next call, and an undelayed call costs one load. A delayed
 * call reads its limit again every few milliseconds, so the test can also release it.
 * tests/support/node/slow_disk.rs writes the file; both define its layout.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { SYNC, WRITE, READ, OPERATIONS };

#define FAIL (UINT64_MAX - 1)

struct operation {
    _Atomic uint64_t delay_ms; /* 0: not delayed; FAIL: the call fails */
    _Atomic uint64_t begun;    /* number of calls that were delayed */
    _Atomic uint64_t ended;    /* number of these calls whose delay has ended */
    /* The others are written before delay_ms, and both texts end with a zero byte. */
    _Atomic uint64_t undelayed; /* number of calls that are not delayed yet */
    char path_part[208];
    char thread[16]; /* name of the threads; empty: all */
};

struct control {
    struct operation operations[OPERATIONS];
    _Atomic uint64_t is_loaded;  /* 1 once the library has mapped the file */
    _Atomic uint64_t full_calls; /* number of calls that failed with ENOSPC or EDQUOT */
    char full_path[256];         /* path of the file of the newest one; ends with a zero byte */
    _Atomic int64_t clock_ahead_secs; /* lead of the system clock over that of the machine */
};

static struct control *control;

__attribute__((constructor)) static void map_control(void) {
    const char *path = getenv("SLOW_DISK_CONTROL");
    if (path == NULL) return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED) return;
    control = mapped;
    atomic_store(&control->is_loaded, 1);
}

/* Writes the path of an open file to `path`, or an empty text if it has none. */
static void find_path(int fd, char *path, size_t path_bytes) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t bytes = readlink(link, path, path_bytes - 1);
    path[bytes < 0 ? 0 : bytes] = 0;
}

static int matches(int fd, const struct operation *operation) {
    char thread[16] = "";
    char path[4096];
    if (operation->thread[0] != 0) {
        prctl(PR_GET_NAME, thread);
        if (strcmp(thread, operation->thread) != 0) return 0;
    }
    find_path(fd, path, sizeof path);
    return strstr(path, operation->path_part) != NULL;
}

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Returns whether the call is one of those before the first delayed one. */
static int is_undelayed(struct operation *operation) {
    uint64_t left = atomic_load(&operation->undelayed);
    while (left > 0) {
        if (atomic_compare_exchange_weak(&operation->undelayed, &left, left - 1)) return 1;
    }
    return 0;
}

/* Delays a call. Returns whether it must fail instead. */
static int delay(int kind, int fd) {
    if (control == NULL) return 0;
    struct operation *operation = &control->operations[kind];
    if (atomic_load(&operation->delay_ms) == 0 || !matches(fd, operation)) return 0;
    if (is_undelayed(operation)) return 0;
    atomic_fetch_add(&operation->begun, 1);
    uint64_t begun_ms = now_ms();
    uint64_t limit_ms;
    while ((limit_ms = atomic_load(&operation->delay_ms)) != FAIL &&
           now_ms() - begun_ms < limit_ms) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    atomic_fetch_add(&operation->ended, 1);
    if (limit_ms == FAIL) errno = EIO;
    return limit_ms == FAIL;
}

/* Counts a call that found the disk full, and returns its result. */
static long counted(long result, int fd) {
    if (result < 0 && (errno == ENOSPC || errno == EDQUOT) && control != NULL) {
        int error = errno;
        find_path(fd, control->full_path, sizeof control->full_path);
        atomic_fetch_add(&control->full_calls, 1);
        errno = error;
    }
    return result;
}

/* The system calls set errno as the functions of libc do. */

int fsync(int fd) {
    if (delay(SYNC, fd)) return -1;
    return (int)counted(syscall(SYS_fsync, fd), fd);
}

int fdatasync(int fd) {
    if (delay(SYNC, fd)) return -1;
    return (int)counted(syscall(SYS_fdatasync, fd), fd);
}

int ftruncate64(int fd, off64_t length) {
    return (int)counted(syscall(SYS_ftruncate, fd, length), fd);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    if (delay(WRITE, fd)) return -1;
    return counted(syscall(SYS_write, fd, bytes, count), fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    if (delay(WRITE, fd)) return -1;
    return counted(syscall(SYS_pwrite64, fd, bytes, count, offset), fd);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite64(fd, bytes, count, offset);
}

ssize_t read(int fd, void *bytes, size_t count) {
    if (delay(READ, fd)) return -1;
    return syscall(SYS_read, fd, bytes, count);
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t offset) {
    if (delay(READ, fd)) return -1;
    return syscall(SYS_pread64, fd, bytes, count, offset);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t offset) {
    return pread64(fd, bytes, count, offset);
}

/* The monotonic clocks keep their time. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME && control != NULL) {
        time->tv_sec += atomic_load(&control->clock_ahead_secs);
    }
    return result;
}
