#pragma once

#include <pthread.h>
#include <stdbool.h>

/// Waits for a mutex of the C library that another thread of the same schedule holds. Returns false if the calling
/// thread must block instead.
typedef bool (*ExplorationMutexWait)(pthread_mutex_t *mutex, int owner);

/// Makes `pthread_mutex_lock` call a function if a mutex is taken, in all libraries of the process.
void explorationSetMutexWait(ExplorationMutexWait wait);

/// The identifier of the thread that holds a mutex; 0 if no thread does.
int explorationMutexOwner(const pthread_mutex_t *mutex);

/// The identifier of the calling thread.
int explorationThreadIdentifier(void);
