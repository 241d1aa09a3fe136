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
