// Functions that Swift cannot import or declare by public means.

#pragma once

#include <stdint.h>

/// Returns the address of a task local's value in the calling task; null if it has none. Also returns null if the
/// runtime does not have the function that looks up task locals.
///
/// \param key The address of the `TaskLocal` object.
void *_Nullable taskOperationsTaskLocalValue(const void *_Nonnull key);

/// Writes text to standard error, whose declarations differ from one C library to another.
void taskOperationsWriteToStandardError(const char *_Nonnull text);

/// The number of the exploration's run that the calling thread executes; 0 on other threads.
uint64_t taskOperationsRunNumber(void);

/// Sets the number of the calling thread's run.
void taskOperationsSetRunNumber(uint64_t number);

/// Opens a descriptor of a process: `pidfd_open` of Linux 5.3. Returns -1 and sets `errno` if the kernel refuses.
int taskOperationsOpenProcess(int identifier);

/// Whether all processors count the same ticks at a constant rate, so that `taskOperationsCounter` can measure time.
int taskOperationsHasCounter(void);

/// The ticks of the processor's counter; 0 on processors without one.
static inline uint64_t taskOperationsCounter(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__) && !defined(_WIN32)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

/// The time of a clock that is never set, in nanoseconds.
uint64_t taskOperationsNanoseconds(void);

/// The same time, also while a test controls the clocks of the process.
uint64_t taskOperationsRealNanoseconds(void);

/// The time since 1970, in nanoseconds.
uint64_t taskOperationsWallNanoseconds(void);

/// The number of the process.
uint64_t taskOperationsProcessNumber(void);

/// The number of files that the process may have open at the same time, but at most 65,536.
int32_t taskOperationsOpenFileLimit(void);

/// Memory of bytes that are 0; null if there is none. Pages of large memory are made at their first use.
void *_Nullable taskOperationsZeroedMemory(intptr_t count);

void taskOperationsFree(void *_Nonnull memory);

/// Copies a ring of change records, chunk by chunk. A chunk that changes its generation meanwhile is empty in the copy.
/// May be called in a signal handler.
void taskOperationsCopyRecords(const void *_Nonnull words, uint64_t *_Nonnull copy, intptr_t count);

/// Creates a file in the place of an existing one, reserves its first bytes, and maps more bytes to memory. Returns null
/// and sets `errno` if that fails.
///
/// \param descriptor Receives the descriptor of the file.
void *_Nullable taskOperationsMapFile(
    const char *_Nonnull path, uint64_t reserved, uint64_t mapped, int *_Nonnull descriptor);

/// Reserves the bytes of a file up to a size. Returns 0, or the number of the error.
int taskOperationsReserveFile(int descriptor, uint64_t from, uint64_t to);

void taskOperationsUnmapFile(void *_Nonnull memory, uint64_t mapped, int descriptor);

/// Writes a ring of change records to a file when the process receives a signal, which then has its former effect. The
/// memory must never be freed. Returns 0, or the number of the error.
int taskOperationsWriteAtSignal(int signal, const char *_Nonnull path, const void *_Nonnull words, intptr_t count);

/// The text of the last error of the C library on this thread.
const char *_Nonnull taskOperationsErrorText(void);

/// Writes a file. Returns 0, or the number of the error.
int taskOperationsWriteFile(const char *_Nonnull path, const void *_Nonnull bytes, intptr_t count);

/// Renames a file, and replaces an existing one. Returns 0, or the number of the error.
int taskOperationsRenameFile(const char *_Nonnull from, const char *_Nonnull to);

/// Reads a file of change records, which a process may be writing. A chunk that changes its generation meanwhile is empty
/// in the result, and a last word that is cut is left out. The caller frees the result; null if that fails.
uint64_t *_Nullable taskOperationsReadRecords(const char *_Nonnull path, intptr_t *_Nonnull count);

/// Whether a process of this number exists, which may be another one than the one that is meant.
int taskOperationsProcessExists(uint64_t number);

// The words of a ring of change records, which threads and other processes access at once: see `ChangeRing`.

/// Reads a word. The access orders no others.
static inline uint64_t taskOperationsLoad(const uint64_t *_Nonnull word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/// Writes a word. The access orders no others.
static inline void taskOperationsStore(uint64_t *_Nonnull word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/// Writes a word. Who reads it also finds what was written before.
static inline void taskOperationsPublish(uint64_t *_Nonnull word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/// Adds to a word, and returns the sum. The access orders no others.
static inline uint64_t taskOperationsAdd(uint64_t *_Nonnull word, uint64_t value) {
    return __atomic_add_fetch(word, value, __ATOMIC_RELAXED);
}

/// Replaces a word, and returns its former value. The access orders no others.
static inline uint64_t taskOperationsExchange(uint64_t *_Nonnull word, uint64_t value) {
    return __atomic_exchange_n(word, value, __ATOMIC_RELAXED);
}

/// Sets a word to 1. Returns whether it was 0: the caller then finds what its former owner wrote before it published 0.
static inline int taskOperationsTake(uint64_t *_Nonnull word) {
    return __atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE) == 0;
}

/// What is written afterwards is not visible before what was written earlier.
static inline void taskOperationsFence(void) { __atomic_thread_fence(__ATOMIC_RELEASE); }
