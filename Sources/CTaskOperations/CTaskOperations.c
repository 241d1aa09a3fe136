#define _GNU_SOURCE
#include "CTaskOperations.h"

#if defined(_WIN32)
// Windows cannot leave a symbol of another library undefined.
void *taskOperationsTaskLocalValue(const void *key) { return 0; }
#else
// The runtime exports this function, but its public interface does not declare it. The reference is weak: if a later
// runtime lacks the function, programs still start.
__attribute__((weak, swiftcall)) extern void *swift_task_localValueGet(const void *key);

void *taskOperationsTaskLocalValue(const void *key) {
    return swift_task_localValueGet ? swift_task_localValueGet(key) : 0;
}
#endif

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
