// Functions that Swift cannot import or declare by public means.

#pragma once

/// Returns the address of a task local's value in the calling task; null if it has none. Also returns null if the
/// runtime does not have the function that looks up task locals.
///
/// \param key The address of the `TaskLocal` object.
void *_Nullable taskOperationsTaskLocalValue(const void *_Nonnull key);

/// Opens a descriptor of a process: `pidfd_open` of Linux 5.3. Returns -1 and sets `errno` if the kernel refuses.
int taskOperationsOpenProcess(int identifier);
