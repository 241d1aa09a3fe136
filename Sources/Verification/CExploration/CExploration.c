#define _GNU_SOURCE
#include "CExploration.h"
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

static ExplorationMutexWait mutexWait;

// The definition of Glibc. The first call looks it up, which takes no lock of this kind.
static int lockMutex(pthread_mutex_t *mutex) {
    static int (*original)(pthread_mutex_t *);
    int (*function)(pthread_mutex_t *) = __atomic_load_n(&original, __ATOMIC_RELAXED);
    if (!function) {
        function = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
        __atomic_store_n(&original, function, __ATOMIC_RELAXED);
    }
    return function(mutex);
}

// The dynamic linker prefers this definition to that of Glibc, in all libraries.
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    ExplorationMutexWait wait = __atomic_load_n(&mutexWait, __ATOMIC_ACQUIRE);
    if (!wait) return lockMutex(mutex);
    int error;
    while ((error = pthread_mutex_trylock(mutex)) == EBUSY) {
        if (!wait(mutex, explorationMutexOwner(mutex))) return lockMutex(mutex);
    }
    return error;
}

void explorationSetMutexWait(ExplorationMutexWait wait) { __atomic_store_n(&mutexWait, wait, __ATOMIC_RELEASE); }

int explorationMutexOwner(const pthread_mutex_t *mutex) {
    return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
}

int explorationThreadIdentifier(void) { return gettid(); }
