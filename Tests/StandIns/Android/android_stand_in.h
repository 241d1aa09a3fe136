// A stand-in for the C library of Android, for type-checking only: what the library and the bridge call, with the
// nullability of bionic's headers (pthread.h, unistd.h, stdio.h, sched.h, time.h, poll.h, signal.h). The headers of the NDK
// before version 28 declare that the start routine of a thread takes and returns a pointer that is not null
// (STAND_IN_NDK_27); those from 28 on declare both nullable.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef long ssize_t;
typedef int pid_t;
typedef int clockid_t;
typedef long pthread_t;
typedef int pthread_key_t;
typedef struct { uint32_t flags; void *stack_base; size_t stack_size; size_t guard_size; int32_t sched_policy; int32_t sched_priority; char reserved[16]; } pthread_attr_t;
typedef struct { int32_t __private[10]; } pthread_mutex_t;
typedef struct { int32_t __private[12]; } pthread_cond_t;
typedef long pthread_mutexattr_t;
typedef long pthread_condattr_t;
struct timespec { long tv_sec; long tv_nsec; };

#define PTHREAD_CREATE_DETACHED 0x00000001
#define CLOCK_MONOTONIC 1
#define STDERR_FILENO 2
#define _SC_OPEN_MAX 0x000f
#define _SC_NPROCESSORS_ONLN 0x0061
#define EINTR 4
#define EBADF 9
#define EAGAIN 11
#define EINVAL 22
#define ESRCH 3
#define ETIMEDOUT 110

#ifdef STAND_IN_NDK_27
int pthread_create(pthread_t *_Nonnull, pthread_attr_t const *_Nullable, void *_Nonnull (*_Nonnull)(void *_Nonnull), void *_Nullable);
#else
int pthread_create(pthread_t *_Nonnull, pthread_attr_t const *_Nullable, void *_Nullable (*_Nonnull)(void *_Nullable), void *_Nullable);
#endif
int pthread_attr_init(pthread_attr_t *_Nonnull);
int pthread_attr_destroy(pthread_attr_t *_Nonnull);
int pthread_attr_setdetachstate(pthread_attr_t *_Nonnull, int);
int pthread_attr_setstacksize(pthread_attr_t *_Nonnull, size_t);
int pthread_mutex_init(pthread_mutex_t *_Nonnull, const pthread_mutexattr_t *_Nullable);
int pthread_mutex_destroy(pthread_mutex_t *_Nonnull);
int pthread_mutex_lock(pthread_mutex_t *_Nonnull);
int pthread_mutex_trylock(pthread_mutex_t *_Nonnull);
int pthread_mutex_unlock(pthread_mutex_t *_Nonnull);
int pthread_condattr_init(pthread_condattr_t *_Nonnull);
int pthread_condattr_destroy(pthread_condattr_t *_Nonnull);
int pthread_condattr_setclock(pthread_condattr_t *_Nonnull, clockid_t);
int pthread_cond_init(pthread_cond_t *_Nonnull, const pthread_condattr_t *_Nullable);
int pthread_cond_destroy(pthread_cond_t *_Nonnull);
int pthread_cond_wait(pthread_cond_t *_Nonnull, pthread_mutex_t *_Nonnull);
int pthread_cond_timedwait(pthread_cond_t *_Nonnull, pthread_mutex_t *_Nonnull, const struct timespec *_Nullable);
int pthread_cond_signal(pthread_cond_t *_Nonnull);
int pthread_cond_broadcast(pthread_cond_t *_Nonnull);
pthread_t pthread_self(void);
int pthread_key_create(pthread_key_t *_Nonnull, void (*_Nullable)(void *_Nullable));
void *_Nullable pthread_getspecific(pthread_key_t);
int pthread_setspecific(pthread_key_t, const void *_Nullable);
int sched_yield(void);
long sysconf(int);
int clock_gettime(clockid_t, struct timespec *_Nonnull);

typedef struct __sFILE FILE;
FILE *_Nullable fopen(const char *_Nonnull, const char *_Nonnull);
int fputs(const char *_Nonnull, FILE *_Nonnull);
int fclose(FILE *_Nonnull);
ssize_t write(int, const void *_Nonnull, size_t);
ssize_t read(int, void *_Nonnull, size_t);
int close(int);
int pipe(int[_Nonnull 2]);
int kill(pid_t, int);
char *_Nonnull strerror(int);
int strcmp(const char *_Nonnull, const char *_Nonnull);

typedef int64_t off_t;
typedef unsigned int mode_t;
struct stat { unsigned long st_dev; unsigned long st_ino; unsigned long st_nlink; unsigned int st_mode; off_t st_size; };
typedef struct DIR DIR;
struct dirent { uint64_t d_ino; int64_t d_off; unsigned short d_reclen; unsigned char d_type; char d_name[256]; };
int open(const char *_Nonnull, int, ...);
int access(const char *_Nonnull, int);
int flock(int, int);
int fstat(int, struct stat *_Nonnull);
ssize_t pread(int, void *_Nonnull, size_t, off_t);
int fsync(int);
int fdatasync(int);
int ftruncate(int, off_t);
int rename(const char *_Nonnull, const char *_Nonnull);
int unlink(const char *_Nonnull);
int mkdir(const char *_Nonnull, mode_t);
DIR *_Nullable opendir(const char *_Nonnull);
struct dirent *_Nullable readdir(DIR *_Nonnull);
int closedir(DIR *_Nonnull);
pid_t getpid(void);
struct timeval { long tv_sec; long tv_usec; };
int gettimeofday(struct timeval *_Nonnull, void *_Nullable);
#define O_RDONLY 00000000
#define O_RDWR 00000002
#define O_CREAT 00000100
#define O_APPEND 00002000
#define O_CLOEXEC 02000000
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define F_OK 0
#define ENOENT 2
#define EEXIST 17
#define EWOULDBLOCK EAGAIN

typedef unsigned int nfds_t;
struct pollfd { int fd; short events; short revents; };
int poll(struct pollfd *_Nullable, nfds_t, int);
#define POLLIN 0x0001
#define POLLOUT 0x0004
#define POLLERR 0x0008
#define POLLHUP 0x0010
#define POLLNVAL 0x0020
#define F_SETFD 2
#define F_SETFL 4
#define FD_CLOEXEC 1
#define O_NONBLOCK 00004000
typedef struct { unsigned long sig; } sigset_t;
int sigaddset(sigset_t *_Nonnull, int);
#define SIGKILL 9
#define SIGSTOP 19

// For the shims of the standard library: errno.h, sys/syscall.h and linux/futex.h.
int *_Nonnull __errno(void);
#define errno (*__errno())
long syscall(long, ...);
#define SYS_gettid 186
#define SYS_futex 202
#define FUTEX_LOCK_PI 6
#define FUTEX_UNLOCK_PI 7
#define FUTEX_TRYLOCK_PI 8
#define FUTEX_LOCK_PI_PRIVATE (FUTEX_LOCK_PI | 128)
#define FUTEX_UNLOCK_PI_PRIVATE (FUTEX_UNLOCK_PI | 128)
