#define _GNU_SOURCE
#include "CTaskOperations.h"

#include <stdio.h>
#include <stdlib.h>

// The runtime exports `swift_task_localValueGet`, but its public interface does not declare the function. If a later
// runtime lacks it, programs still start.
#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

// Windows cannot leave a symbol of another library undefined.
void *taskOperationsTaskLocalValue(const void *key) {
    typedef void *(__attribute__((swiftcall)) *Function)(const void *);
    static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    static Function function;
    BOOL isPending = FALSE;
    InitOnceBeginInitialize(&once, 0, &isPending, NULL);
    if (isPending) {
        HMODULE runtime = GetModuleHandleW(L"swift_Concurrency.dll");
        if (runtime) { function = (Function)GetProcAddress(runtime, "swift_task_localValueGet"); }
        InitOnceComplete(&once, 0, NULL);
    }
    return function ? function(key) : 0;
}
#else
__attribute__((weak, swiftcall)) extern void *swift_task_localValueGet(const void *key);

void *taskOperationsTaskLocalValue(const void *key) {
    return swift_task_localValueGet ? swift_task_localValueGet(key) : 0;
}
#endif

void taskOperationsWriteToStandardError(const char *text) { fputs(text, stderr); }

static _Thread_local uint64_t runNumber;

uint64_t taskOperationsRunNumber(void) { return runNumber; }

void taskOperationsSetRunNumber(uint64_t number) { runNumber = number; }

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

// Glibc has `pidfd_open` only since version 2.36. The number of the call is the same for all processors.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int taskOperationsOpenProcess(int identifier) { return (int)syscall(SYS_pidfd_open, identifier, 0); }
#endif

// The clock of recorders.

#include <string.h>
#include <time.h>

#if defined(_WIN32)
int taskOperationsHasCounter(void) { return 0; }

uint64_t taskOperationsNanoseconds(void) {
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    return (uint64_t)((double)ticks.QuadPart * 1e9 / (double)frequency.QuadPart);
}

uint64_t taskOperationsProcessNumber(void) { return GetCurrentProcessId(); }
#else
#include <unistd.h>

int taskOperationsHasCounter(void) {
#if defined(__aarch64__)
    return 1;
#elif defined(__x86_64__) && defined(__linux__)
    // The kernel measures time by the counter only if it has found the counter constant and equal on all processors.
    char name[8] = {0};
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (!file) { return 0; }
    char *line = fgets(name, sizeof name, file);
    fclose(file);
    return line && strncmp(line, "tsc\n", 4) == 0;
#else
    return 0;
#endif
}

uint64_t taskOperationsNanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#if defined(__wasi__)
uint64_t taskOperationsProcessNumber(void) { return 0; }
#else
uint64_t taskOperationsProcessNumber(void) { return (uint64_t)getpid(); }
#endif
#endif

#if !defined(_WIN32) && !defined(__wasi__)
#include <sys/resource.h>
#endif

int32_t taskOperationsOpenFileLimit(void) {
#if !defined(_WIN32) && !defined(__wasi__)
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536) { return (int32_t)limit.rlim_cur; }
#endif
    return 65536;
}

#if defined(__linux__) && defined(__LP64__)
uint64_t taskOperationsRealNanoseconds(void) {
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
#else
uint64_t taskOperationsRealNanoseconds(void) { return taskOperationsNanoseconds(); }
#endif

uint64_t taskOperationsWallNanoseconds(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void *taskOperationsZeroedMemory(intptr_t count) { return calloc(1, (size_t)count); }

void taskOperationsFree(void *memory) { free(memory); }

// The memory of recorders. See `ChangeRing`, which also says why a copy is never torn.

#include <errno.h>

enum { headerWords = 512, chunkWords = 256, takenPlace = 7 };

static void copyChunk(const uint64_t *chunk, uint64_t *copy) {
    uint64_t generation = __atomic_load_n(chunk, __ATOMIC_ACQUIRE);
    uint64_t count = __atomic_load_n(chunk + 1, __ATOMIC_ACQUIRE);
    copy[1] = count;
    for (int word = 2; word < chunkWords; word += 1) { copy[word] = __atomic_load_n(chunk + word, __ATOMIC_RELAXED); }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    copy[0] = __atomic_load_n(chunk, __ATOMIC_RELAXED) == generation ? generation : 0;
}

void taskOperationsCopyRecords(const void *memory, uint64_t *copy, intptr_t count) {
    const uint64_t *words = memory;
    for (long word = 0; word < headerWords; word += 1) { copy[word] = __atomic_load_n(words + word, __ATOMIC_ACQUIRE); }
    for (long chunk = headerWords; chunk + chunkWords <= count; chunk += chunkWords) {
        copyChunk(words + chunk, copy + chunk);
    }
}

const char *taskOperationsErrorText(void) { return strerror(errno); }

#if defined(_WIN32) || defined(__wasi__)
void *taskOperationsMapFile(const char *path, uint64_t reserved, uint64_t mapped, int *descriptor) {
    errno = ENOSYS;
    return 0;
}

int taskOperationsReserveFile(int descriptor, uint64_t from, uint64_t to) { return ENOSYS; }

void taskOperationsUnmapFile(void *memory, uint64_t mapped, int descriptor) {}

int taskOperationsWriteAtSignal(int signal, const char *path, const void *words, intptr_t count) { return ENOSYS; }

int taskOperationsProcessExists(uint64_t number) { return 0; }
#else
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

int taskOperationsProcessExists(uint64_t number) {
    return number > 0 && (kill((pid_t)number, 0) == 0 || errno == EPERM);
}

int taskOperationsReserveFile(int descriptor, uint64_t from, uint64_t to) {
#if defined(__APPLE__)
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, (off_t)(to - from), 0};
    if (fcntl(descriptor, F_PREALLOCATE, &store) == -1) { return errno; }
    return ftruncate(descriptor, (off_t)to) == 0 ? 0 : errno;
#else
    return posix_fallocate(descriptor, (off_t)from, (off_t)(to - from));
#endif
}

void *taskOperationsMapFile(const char *path, uint64_t reserved, uint64_t mapped, int *descriptor) {
    // Another process may still map the former file, and would die if that were shortened.
    unlink(path);
    *descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (*descriptor < 0) { return 0; }
    int error = taskOperationsReserveFile(*descriptor, 0, reserved);
    void *memory = error ? MAP_FAILED : mmap(0, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
    if (memory != MAP_FAILED) { return memory; }
    if (error) { errno = error; }
    error = errno;
    close(*descriptor);
    unlink(path);
    errno = error;
    return 0;
}

void taskOperationsUnmapFile(void *memory, uint64_t mapped, int descriptor) {
    munmap(memory, mapped);
    close(descriptor);
}

// The rings to write at each signal. An entry is never removed, because a handler may be using it.
typedef struct {
    char path[1024];
    const uint64_t *words;
    intptr_t count;
    struct sigaction former;
} SignalEntry;

static SignalEntry *signalEntries[65];

static void writeAll(int descriptor, const void *bytes, size_t count) {
    const char *rest = bytes;
    while (count > 0) {
        ssize_t written = write(descriptor, rest, count);
        if (written <= 0) { return; }
        rest += written;
        count -= (size_t)written;
    }
}

static void writeAtSignal(int signal) {
    int error = errno;
    SignalEntry *entry = __atomic_load_n(&signalEntries[signal], __ATOMIC_ACQUIRE);
    int descriptor = open(entry->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor >= 0) {
        uint64_t copy[headerWords];
        for (int word = 0; word < headerWords; word += 1) {
            copy[word] = __atomic_load_n(entry->words + word, __ATOMIC_ACQUIRE);
        }
        writeAll(descriptor, copy, sizeof copy);
        long end = headerWords + (long)copy[takenPlace] * chunkWords;
        for (long chunk = headerWords; chunk + chunkWords <= entry->count && chunk < end; chunk += chunkWords) {
            copyChunk(entry->words + chunk, copy);
            writeAll(descriptor, copy, chunkWords * sizeof *copy);
        }
        close(descriptor);
    }
    // The signal is blocked until the handler returns, and then has its former effect.
    sigaction(signal, &entry->former, 0);
    raise(signal);
    errno = error;
}

int taskOperationsWriteAtSignal(int signal, const char *path, const void *words, intptr_t count) {
    if (signal < 1 || signal > 64 || strlen(path) >= sizeof signalEntries[0]->path) { return EINVAL; }
    SignalEntry *entry = calloc(1, sizeof *entry);
    if (!entry) { return ENOMEM; }
    strcpy(entry->path, path);
    entry->words = words;
    entry->count = count;
    SignalEntry *former = __atomic_load_n(&signalEntries[signal], __ATOMIC_ACQUIRE);
    if (former) { entry->former = former->former; }
    if (!former && sigaction(signal, 0, &entry->former) != 0) {
        free(entry);
        return errno;
    }
    __atomic_store_n(&signalEntries[signal], entry, __ATOMIC_RELEASE);
    struct sigaction action = {0};
    action.sa_handler = writeAtSignal;
    sigemptyset(&action.sa_mask);
    // On the stack for signals if the thread has one, because the other may be exhausted.
    action.sa_flags = SA_ONSTACK;
    return sigaction(signal, &action, 0) == 0 ? 0 : errno;
}
#endif

int taskOperationsWriteFile(const char *path, const void *bytes, intptr_t count) {
    FILE *file = fopen(path, "wb");
    if (!file) { return errno; }
    size_t written = fwrite(bytes, 1, (size_t)count, file);
    int error = written == (size_t)count ? 0 : errno;
    if (fclose(file) != 0 && error == 0) { error = errno; }
    errno = error;
    return error;
}

int taskOperationsRenameFile(const char *from, const char *to) {
#if defined(_WIN32)
    remove(to);
#endif
    return rename(from, to) == 0 ? 0 : errno;
}

uint64_t *taskOperationsReadRecords(const char *path, intptr_t *count) {
    FILE *file = fopen(path, "rb");
    if (!file) { return 0; }
    // Without a buffer, so that the second reading of a generation is one of the file.
    setbuf(file, 0);
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint64_t *words = size >= 0 ? calloc((size_t)size / 8 + headerWords, 8) : 0;
    if (!words || fseek(file, 0, SEEK_SET) != 0) {
        fclose(file);
        free(words);
        return 0;
    }
    *count = (intptr_t)(fread(words, 1, headerWords * 8 < size ? headerWords * 8 : (size_t)size, file) / 8);
    long end = headerWords + (words[takenPlace] < (uint64_t)size ? (long)words[takenPlace] * chunkWords : size);
    for (long chunk = headerWords; *count == chunk && chunk < end; chunk += chunkWords) {
        long rest = size / 8 - chunk < chunkWords ? size / 8 - chunk : chunkWords;
        if (rest <= 0) { break; }
        *count += (intptr_t)(fread(words + chunk, 8, (size_t)rest, file));
        uint64_t generation = 0;
        fseek(file, chunk * 8, SEEK_SET);
        if (fread(&generation, 8, 1, file) != 1 || generation != words[chunk]) { words[chunk] = 0; }
        fseek(file, (chunk + rest) * 8, SEEK_SET);
    }
    fclose(file);
    return words;
}
