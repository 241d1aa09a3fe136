#define _GNU_SOURCE
#include "CTaskOperations.h"

#include <stdio.h>

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
