#define _GNU_SOURCE
#include "CSchedules.h"
#include "CTaskDump.h"

int schedulesFindHighest(const void *first, size_t stride, uint64_t places) {
    int found = -1;
    uint64_t highest = 0;
    for (; places; places &= places - 1) {
        int place = __builtin_ctzll(places);
        uint64_t number = *(const uint64_t *)((const char *)first + (size_t)place * stride);
        if (found < 0 || number > highest) found = place, highest = number;
    }
    return found;
}

#if defined(_WIN32) || defined(__wasi__)
// No thread of these platforms explores.
void schedulesPrepare(SchedulesThread *thread, const char *test, const char *only) {}
void schedulesEnd(SchedulesThread *thread) {}
void schedulesEnter(SchedulesThread *thread) {}
SchedulesThread *schedulesCurrent(void) { return 0; }
uint64_t schedulesTaskNumber(const void *job) { return 0; }
const void *schedulesActor(const void *job) { return 0; }
const void *schedulesFunction(const void *job) { return 0; }
uint64_t schedulesCurrentTask(void) { return 0; }
int schedulesTakesTasks(void) { return 0; }
int schedulesTakesClocks(void) { return 0; }
const char *schedulesEnvironment(const char *name) { return 0; }
void schedulesAllowEscape(void) {}
void schedulesCancel(const void *object) {}
void schedulesEnqueue(const void *job, SchedulesExecutor executor) {}
void schedulesSleep(int64_t nanoseconds) {}
void schedulesEndCopy(void) {}
#else
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

static _Thread_local SchedulesThread *current;

SchedulesThread *schedulesCurrent(void) { return current; }

// Some definitions below have the names of functions of the runtime, and precede these for all code of the program.
// They are weak: a runtime that is linked statically precedes them. Each calls the original function.
#define ORIGINAL(name) \
    static __typeof__(name) *stored; \
    __typeof__(name) *original = __atomic_load_n(&stored, __ATOMIC_RELAXED); \
    if (!original) { \
        original = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
        __atomic_store_n(&stored, original, __ATOMIC_RELAXED); \
    }

// The functions and variables of the runtime: include/swift/Runtime/Concurrency.h of the Swift repository. A runtime
// that lacks one of them leaves its address null.
#define RUNTIME __attribute__((weak, swiftcall)) extern
RUNTIME uint64_t swift_task_getJobTaskId(const void *job);
RUNTIME size_t swift_task_getJobFlags(const void *job);
RUNTIME void *swift_task_getCurrent(void);
RUNTIME SchedulesExecutor swift_task_getCurrentExecutor(void);
RUNTIME void swift_task_cancel(void *task);
RUNTIME void swift_task_enqueue(void *job, const void *identity, uintptr_t implementation);
extern void *swift_retain(void *object);
extern void swift_release(void *object);

// MARK: - New tasks

// A task that prefers an executor is enqueued there at each change of its actor. Other tasks call an idle actor without
// a chance for other tasks.

// include/swift/ABI/TaskOptions.h
typedef struct Option {
    size_t kind;
    struct Option *parent;
} Option;
typedef struct {
    Option option;
    SchedulesExecutor executor;
} ExecutorOption;
typedef struct {
    Option option;
    const char *name;
} NameOption;
enum { serialExecutor = 0, group = 1, unownedExecutor = 5, ownedExecutor = 6, taskName = 7 };
// include/swift/ABI/MetadataValues.h: the creation also makes the task ready.
enum { enqueuesFlag = 1 << 12 };

/// Whether an executor is an actor without an executor of its own.
static int isActor(SchedulesExecutor executor) { return executor.identity && !executor.implementation; }

static TaskDumpNewTask schedulesCreate(
    size_t flags, void *list, const void *type, void *function, void *captured, void **frame) {
    SchedulesThread *thread = current;
    Option *options = list;
    const char *name = 0;
    int isChild = 0;
    ExecutorOption paused;
    for (Option **next = &options; *next;) {
        size_t kind = (*next)->kind & 0xFF;
        if (kind == group) isChild = 1;
        // A task that begins on an actor is paused, too. It would otherwise begin as soon as the running job leaves the
        // actor, before tasks that have arrived earlier.
        if (kind == serialExecutor && flags & enqueuesFlag && isActor(((ExecutorOption *)*next)->executor)) {
            thread->pausing = (SchedulesSwitch){0, ((ExecutorOption *)*next)->executor};
            paused = (ExecutorOption){{(*next)->kind, (*next)->parent}, thread->pausedExecutor};
            *next = &paused.option;
        }
        if (kind == taskName) name = ((NameOption *)*next)->name;
        if (kind != unownedExecutor && kind != ownedExecutor) {
            next = &(*next)->parent;
            continue;
        }
        if (kind == ownedExecutor) swift_release((void *)((ExecutorOption *)*next)->executor.identity);
        *next = (*next)->parent;
    }
    ExecutorOption ours = {{ownedExecutor, options}, thread->taskExecutor};
    // The new task owns its executor, and releases it at the end.
    swift_retain((void *)thread->taskExecutor.identity);
    TaskDumpNewTask new = taskDumpCreate(flags, &ours.option, type, function, captured, frame);
    if (thread->created) {
        const void *callers[taskDumpCallerCount];
        taskDumpReadCallers(frame, 0, callers);
        thread->created(swift_task_getJobTaskId(new.task), isChild ? 0 : new.task, name, callers);
    }
    return new;
}

void schedulesCancel(const void *object) { swift_task_cancel((void *)object); }

void schedulesEnqueue(const void *job, SchedulesExecutor executor) {
    swift_task_enqueue((void *)job, executor.identity, executor.implementation);
}

static TaskDumpCreation *creation(void) { return current ? schedulesCreate : 0; }

// MARK: - Changes of executors

typedef __attribute__((swiftasynccall)) void Resume(__attribute__((swift_async_context)) void *context);

__attribute__((swiftasynccall)) void swift_task_switch(
    __attribute__((swift_async_context)) void *context, Resume *resume, const void *identity,
    uintptr_t implementation);

/// Performs the change of a task that was paused. The calls in this convention are tail calls.
static __attribute__((swiftasynccall)) void resumeSwitch(__attribute__((swift_async_context)) void *context) {
    ORIGINAL(swift_task_switch)
    SchedulesSwitch next = current->resuming;
    current->switchingTask = schedulesCurrentTask();
    return original(context, (Resume *)next.resume, next.target.identity, next.target.implementation);
}

// A task that is about to enter an actor is paused, because the order of the arrivals decides the order on the actor.
__attribute__((weak, swiftasynccall)) void swift_task_switch(
    __attribute__((swift_async_context)) void *context, Resume *resume, const void *identity,
    uintptr_t implementation) {
    ORIGINAL(swift_task_switch)
    if (!current || swift_task_getCurrentExecutor().identity == identity)
        return original(context, resume, identity, implementation);
    current->switchingTask = schedulesCurrentTask();
    if (current->switching) current->switching(current->switchingTask, (const void *)resume, identity);
    if (!identity) return original(context, resume, identity, implementation);
    current->pausing = (SchedulesSwitch){(const void *)resume, {identity, implementation}};
    SchedulesExecutor paused = current->pausedExecutor;
    return original(context, resumeSwitch, paused.identity, paused.implementation);
}

// MARK: - Jobs

uint64_t schedulesTaskNumber(const void *job) {
    return (swift_task_getJobFlags(job) & 0xFF) == 0 ? swift_task_getJobTaskId(job) : 0;
}

uint64_t schedulesCurrentTask(void) {
    const void *task = swift_task_getCurrent();
    return task ? schedulesTaskNumber(task) : 0;
}

// include/swift/ABI/MetadataValues.h, include/swift/ABI/Task.h and stdlib/public/Concurrency/Actor.cpp: a job that runs
// an actor, its layout, and the layout of all jobs.
enum { actorJob = 193, actorOffset = 8 * sizeof(void *), functionOffset = 7 * sizeof(void *) };

const void *schedulesActor(const void *job) {
    if ((swift_task_getJobFlags(job) & 0xFF) != actorJob) return 0;
    return *(const void **)((const char *)job + actorOffset);
}

const void *schedulesFunction(const void *job) {
    if ((swift_task_getJobFlags(job) & 0xFF) != 0) return 0;
    return *(const void **)((const char *)job + functionOffset);
}

// MARK: - Copies of the process

/// The exploration whose schedule this copy of the process runs; null in other processes.
static SchedulesThread *copied;
static int copyOutput;

/// Ends a copy, and tells the process what it has found. A copy that tells nothing has found nothing.
static void endCopy(const char *signal) {
    SchedulesCrash crash = {signal, copied->jobs};
    if (write(copyOutput, &crash, sizeof crash) < 0) { /* The process has given up. */ }
    _exit(0);
}

/// Ends a copy that needs another thread. A copy has only one, and Dispatch does not work in it.
static void needThread(void) {
    if (copied) endCopy(0);
}

#if defined(__GLIBC__)
/// Whether a process waits: proc(5). On a busy machine, a process can also need a long time without waiting.
static int isWaiting(pid_t process) {
    char text[256];
    snprintf(text, sizeof text, "/proc/%d/stat", (int)process);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? 0 : read(file, text, sizeof text);
    if (file >= 0) close(file);
    // The name of the program can contain any character.
    const char *name = count > 0 ? memrchr(text, ')', (size_t)count) : 0;
    return name && name + 2 < text + count && name[2] == 'S';
}

/// Waits until a copy has told what it has found. Returns 0 if it waits for a second, or needs longer than the limit.
static int awaitCopy(pid_t copy, int end, int64_t limit) {
    enum { pause = 50 };
    struct pollfd descriptor = {end, POLLIN, 0};
    int waits = 0;
    for (int64_t left = limit / 1000000; left > 0 && waits < 1000 / pause; left -= pause) {
        if (poll(&descriptor, 1, pause) == 1) return 1;
        waits = isWaiting(copy) ? waits + 1 : 0;
    }
    return 0;
}

int schedulesFork(SchedulesThread *thread, int64_t limit, char *output, size_t size, SchedulesCrash *crash) {
    *output = 0;
    *crash = (SchedulesCrash){0, 0};
    int ends[2], text = memfd_create("output", MFD_CLOEXEC);
    if (text < 0 || pipe2(ends, O_CLOEXEC)) {
        close(text);
        return 0;
    }
    pid_t copy = fork();
    if (!copy) {
        // The thread that waits for the copy may be killed.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        copied = thread;
        copyOutput = ends[1];
        dup2(text, 1);
        dup2(text, 2);
        return 1;
    }
    close(ends[1]);
    if (copy > 0) {
        if (!awaitCopy(copy, ends[0], limit)) crash->jobs = -1;
        else if (read(ends[0], crash, sizeof *crash) != sizeof *crash) *crash = (SchedulesCrash){0, 0};
        kill(copy, SIGKILL);
        while (waitpid(copy, 0, 0) < 0 && errno == EINTR) continue;
    }
    off_t length = lseek(text, 0, SEEK_END), start = length < (off_t)size ? 0 : length - (off_t)size + 1;
    ssize_t count = pread(text, output, size - 1, start);
    output[count < 0 ? 0 : count] = 0;
    close(ends[0]);
    close(text);
    return 0;
}
#endif

void schedulesEndCopy(void) { endCopy(0); }

// MARK: - Memory for signals

// An overflow of the stack leaves no room for a handler.

/// Returns null if the thread has such memory.
static void *addSignalStack(void) {
    enum { size = 1 << 16 };
    stack_t present, stack = {.ss_sp = malloc(size), .ss_size = size};
    if (stack.ss_sp && !sigaltstack(0, &present) && present.ss_flags & SS_DISABLE && !sigaltstack(&stack, 0))
        return stack.ss_sp;
    free(stack.ss_sp);
    return 0;
}

static void removeSignalStack(void *memory) {
    stack_t none = {.ss_flags = SS_DISABLE};
    if (memory) sigaltstack(&none, 0);
    free(memory);
}

// MARK: - Jobs that can be interrupted

#if defined(__GLIBC__) && !__has_feature(thread_sanitizer)
#define CONTROLS_THREADS

struct SchedulesWorker {
    SchedulesThread *thread;
    SchedulesWorker *next, *sibling;
    /// The number that the system gave to the thread.
    int number;
    const void *job;
    SchedulesPause pause;
    /// The turns of the worker, and of the exploring thread.
    sem_t turn, back;
    void *signalStack;
};

static _Thread_local SchedulesWorker *worker;

static void await(sem_t *turn) {
    ORIGINAL(sem_wait)
    while (original(turn)) continue;
}

static void wake(sem_t *turn) {
    ORIGINAL(sem_post)
    original(turn);
}

static void *schedulesWork(void *argument) {
    worker = argument;
    worker->number = (int)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), "schedules job");
    worker->signalStack = addSignalStack();
    while (await(&worker->turn), worker->job) {
        current = worker->thread;
        current->perform(worker->job);
        current = 0;
        worker->pause = SchedulesPauseEnded;
        wake(&worker->back);
    }
    removeSignalStack(worker->signalStack);
    free(worker);
    return 0;
}

/// Lets the exploring thread run other jobs.
static void schedulesGiveBack(SchedulesPause pause) {
    SchedulesThread *thread = current;
    SchedulesSwitch pausing = thread->pausing, resuming = thread->resuming;
    uint64_t switching = thread->switchingTask;
    int error = errno;
    worker->pause = pause;
    wake(&worker->back);
    await(&worker->turn);
    thread->pausing = pausing;
    thread->resuming = resuming;
    thread->switchingTask = switching;
    errno = error;
}

static void point(void **frame, int skipped) {
    if (!worker || !current || ++current->points != current->interruption) return;
    taskDumpReadCallers(frame, skipped, current->callers);
    schedulesGiveBack(SchedulesPauseInterrupted);
}

// The first callers are functions of this product and of the runtime.
void schedulesPoint(void) { point(__builtin_frame_address(0), 5); }

/// Begins a thread for jobs. Returns null if the system cannot begin one.
static SchedulesWorker *newWorker(SchedulesThread *thread) {
    pthread_t system;
    SchedulesWorker *new = calloc(1, sizeof *new);
    if (!new) return 0;
    new->thread = thread;
    sem_init(&new->turn, 0, 0);
    sem_init(&new->back, 0, 0);
    // The code under test has not begun this thread.
    current = 0;
    int error = pthread_create(&system, 0, schedulesWork, new);
    current = thread;
    if (error) {
        free(new);
        return 0;
    }
    pthread_detach(system);
    new->sibling = thread->workers;
    thread->workers = new;
    return new;
}

SchedulesWorker *schedulesContinue(
    SchedulesThread *thread, SchedulesWorker *used, const void *job, SchedulesPause *pause) {
    if (used) {
        thread->startedJobs--;
    } else {
        used = thread->idleWorkers;
        if (used) thread->idleWorkers = used->next;
        else if (!(used = newWorker(thread))) return 0;
        used->job = job;
    }
    wake(&used->turn);
    await(&used->back);
    *pause = used->pause;
    if (*pause == SchedulesPauseEnded) {
        used->next = thread->idleWorkers;
        thread->idleWorkers = used;
    } else {
        thread->startedJobs++;
    }
    return used;
}

static void endWorkers(SchedulesThread *thread) {
    for (SchedulesWorker *next, *idle = thread->idleWorkers; idle; idle = next) {
        next = idle->next;
        idle->job = 0;
        wake(&idle->turn);
    }
}

// A job gives back its turn instead of waiting for another job. It waits for other threads: whether it has to depends on
// them, and the schedule must not.

static int canGiveBack(void) { return worker && current && !taskDumpHasLock(); }

/// Whether a thread runs another job. It has a lock because the job was interrupted.
static int isWorker(int number) {
    for (SchedulesWorker *one = current->workers; one; one = one->sibling)
        if (one->number == number) return one != worker;
    return 0;
}

static void schedulesAwaitLock(const void *lock) {
    current->wantedLock = lock;
    schedulesGiveBack(SchedulesPauseBlocked);
}

static void schedulesNoteUnlock(const void *lock) {
    if (!worker || !current) return;
    current->unlocks++;
    if (current->wantedLock != lock) return;
    current->wantedLock = 0;
    schedulesGiveBack(SchedulesPauseUnlocked);
}

/// Whether a call returns to the program's own code or to `NSLock`. The answer is kept for each caller, as
/// `caller * 2 + answer`: `dladdr` reads all symbols of a library, and took 44 % of the time of a run of tests.
static int isOfProgram(const void *caller) {
    static uintptr_t answers[1024];
    uintptr_t *place = &answers[((uintptr_t)caller >> 2) % 1024], known = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (known >> 1 == (uintptr_t)caller) return known & 1;
    Dl_info image;
    if (!dladdr(caller, &image) || !image.dli_fname) return 0;
    const char *folder = strrchr(image.dli_fname, '/'), *name = folder ? folder + 1 : image.dli_fname;
    int isLibrary = strncmp(name, "lib", 3) == 0 && strstr(name, ".so");
    int answer = !isLibrary || strcmp(name, "libFoundation.so") == 0;
    __atomic_store_n(place, (uintptr_t)caller << 1 | answer, __ATOMIC_RELAXED);
    return answer;
}

/// A point after a thread has taken or released a lock. Only the program's own calls, and those of `NSLock`, are points:
/// libraries lock their caches at the first use, so the numbers of their calls differ when a schedule is repeated. A try
/// that fails is no point, because another thread can cause it.
static void lockPoint(const void *caller, void **frame) {
    if (canGiveBack() && isOfProgram(caller)) point(frame, 0);
}

static int tryLock(pthread_mutex_t *mutex) {
    ORIGINAL(pthread_mutex_trylock)
    return original(mutex);
}

__attribute__((weak)) int pthread_mutex_lock(pthread_mutex_t *mutex) {
    ORIGINAL(pthread_mutex_lock)
    int error = EBUSY;
    while (canGiveBack() && (error = tryLock(mutex)) == EBUSY && isWorker(mutex->__data.__owner))
        schedulesAwaitLock(mutex);
    if (error == EBUSY) error = original(mutex);
    if (error == 0) lockPoint(__builtin_return_address(0), __builtin_frame_address(0));
    return error;
}

__attribute__((weak)) int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    int error = tryLock(mutex);
    if (error == 0) lockPoint(__builtin_return_address(0), __builtin_frame_address(0));
    return error;
}

__attribute__((weak)) int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    ORIGINAL(pthread_mutex_unlock)
    int error = original(mutex);
    lockPoint(__builtin_return_address(0), __builtin_frame_address(0));
    schedulesNoteUnlock(mutex);
    return error;
}

// A semaphore of Dispatch calls them.

__attribute__((weak)) int sem_wait(sem_t *semaphore) {
    ORIGINAL(sem_wait)
    while (canGiveBack() && current->startedJobs > 0) {
        if (sem_trywait(semaphore) == 0) return 0;
        schedulesAwaitLock(semaphore);
    }
    return original(semaphore);
}

__attribute__((weak)) int sem_post(sem_t *semaphore) {
    ORIGINAL(sem_post)
    int result = original(semaphore);
    schedulesNoteUnlock(semaphore);
    return result;
}

// A thread calls it to wait for a `Mutex`, or to wake one that waits: futex(2). stdlib/public/SwiftShims/swift/shims/
// _SynchronizationShims.h of the Swift repository.
__attribute__((weak)) long syscall(long number, ...) {
    ORIGINAL(syscall)
    long values[6];
    va_list list;
    va_start(list, number);
    for (int index = 0; index < 6; index++) values[index] = va_arg(list, long);
    va_end(list);
    const void *lock = (const void *)values[0];
    long command = number == SYS_futex ? values[1] & FUTEX_CMD_MASK : -1;
    while (command == FUTEX_LOCK_PI && canGiveBack() && isWorker(*(const int *)lock & FUTEX_TID_MASK)) {
        long attempt = (values[1] & ~FUTEX_CMD_MASK) | FUTEX_TRYLOCK_PI;
        if (original(number, lock, attempt, 0L, 0L, 0L, 0L) == 0) return 0;
        if (errno != EAGAIN) return -1;
        schedulesAwaitLock(lock);
    }
    if (command == FUTEX_WAIT && !values[3] && canGiveBack() && current->startedJobs > 0) {
        schedulesAwaitLock(lock);
        errno = EAGAIN;
        return -1;
    }
    long result = original(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    if (command == FUTEX_UNLOCK_PI || command == FUTEX_WAKE) schedulesNoteUnlock(lock);
    return result;
}
#endif

// MARK: - Hooks

#define HOOK __attribute__((swiftcall))
typedef HOOK void Enqueue(void *job);
typedef HOOK void EnqueueHook(void *job, Enqueue *original);
typedef HOOK void EnqueueAfter(unsigned long long delay, void *job);
typedef HOOK void EnqueueAfterHook(unsigned long long delay, void *job, EnqueueAfter *original);
typedef HOOK SchedulesExecutor Main(void);
typedef HOOK SchedulesExecutor MainHook(Main *original);
__attribute__((weak)) extern EnqueueHook *swift_task_enqueueGlobal_hook;
__attribute__((weak)) extern EnqueueAfterHook *swift_task_enqueueGlobalWithDelay_hook;
__attribute__((weak)) extern MainHook *swift_task_getMainExecutor_hook;
typedef HOOK void EnqueueAt(
    long long seconds, long long nanoseconds, long long tolerance, long long toleranceNanoseconds, int clock, void *job);
typedef HOOK void EnqueueAtHook(
    long long seconds, long long nanoseconds, long long tolerance, long long toleranceNanoseconds, int clock, void *job,
    EnqueueAt *original);
__attribute__((weak)) extern EnqueueAtHook *swift_task_enqueueGlobalWithDeadline_hook;
static EnqueueHook *previousEnqueue;
static EnqueueAfterHook *previousEnqueueAfter;
static EnqueueAtHook *previousEnqueueAt;
static MainHook *previousMain;

static HOOK void schedulesTake(void *job, Enqueue *original) {
    if (current && current->enqueue(job, 0)) return;
    needThread();
    if (previousEnqueue) previousEnqueue(job, original);
    else original(job);
}

static HOOK void enqueueAfter(unsigned long long delay, void *job, EnqueueAfter *original) {
    if (current && current->enqueue(job, (int64_t)delay)) return;
    needThread();
    taskDumpNoteSleep(delay > INT64_MAX ? INT64_MAX : (int64_t)delay);
    if (previousEnqueueAfter) previousEnqueueAfter(delay, job, original);
    else original(delay, job);
}

RUNTIME void swift_get_time(long long *seconds, long long *nanoseconds, int clock);

static HOOK void enqueueAt(
    long long seconds, long long nanoseconds, long long tolerance, long long toleranceNanoseconds, int clock, void *job,
    EnqueueAt *original) {
    long long now, nowNanoseconds;
    swift_get_time(&now, &nowNanoseconds, clock);
    int64_t delay;
    if (__builtin_sub_overflow(seconds, now, &delay) || __builtin_mul_overflow(delay, 1000000000, &delay) ||
        __builtin_add_overflow(delay, nanoseconds - nowNanoseconds, &delay))
        delay = INT64_MAX;
    if (current && current->enqueue(job, delay)) return;
    needThread();
    taskDumpNoteSleep(delay);
    if (previousEnqueueAt)
        previousEnqueueAt(seconds, nanoseconds, tolerance, toleranceNanoseconds, clock, job, original);
    else original(seconds, nanoseconds, tolerance, toleranceNanoseconds, clock, job);
}

static HOOK SchedulesExecutor mainExecutor(Main *original) {
    if (current) return current->mainExecutor;
    return previousMain ? previousMain(original) : original();
}

// Another module may have set a hook since the last exploration. Two threads may begin an exploration at once, and a hook
// that preceded itself would never return.
#define INSTALL(hook, ours, previous) \
    if (&hook) { \
        __typeof__(previous) present = __atomic_exchange_n(&hook, ours, __ATOMIC_ACQ_REL); \
        if (present != ours) __atomic_store_n(&previous, present, __ATOMIC_RELEASE); \
    }

int schedulesTakesTasks(void) {
    return &swift_task_enqueueGlobal_hook && &swift_task_getMainExecutor_hook && swift_task_getJobFlags &&
           swift_task_getJobTaskId && swift_task_getCurrent && swift_task_getCurrentExecutor && swift_task_enqueue &&
           taskDumpTakesTasks();
}

// MARK: - Crashes

// A failed precondition of the tested code ends the process. The handler may call few functions.
static const struct {
    int number;
    const char *name;
} crashes[] = {{SIGILL, "SIGILL"}, {SIGTRAP, "SIGTRAP"}, {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGABRT, "SIGABRT"},
    {SIGFPE, "SIGFPE"}, {SIGSYS, "SIGSYS"}};
enum { crashCount = sizeof crashes / sizeof *crashes };
static struct sigaction formerActions[crashCount];

static void append(char *line, size_t size, const char *text) { strncat(line, text, size - strlen(line) - 1); }

static void appendNumber(char *line, size_t size, int64_t number) {
    char digits[24], *first = digits + sizeof digits - 1;
    *first = 0;
    do *--first = (char)('0' + number % 10);
    while (number /= 10);
    append(line, size, first);
}

#if defined(__GLIBC__)
#define FORK_HINT ", reduce it with TASK_OPERATIONS_FORK=1"
#else
#define FORK_HINT ""
#endif

static void noteCrash(int number, siginfo_t *information, void *context) {
    int former = errno, index = 0;
    while (index < crashCount - 1 && crashes[index].number != number) index++;
    if (copied) endCopy(crashes[index].name);
    SchedulesThread *thread = current;
    if (thread) {
        char line[4096] = "";
        append(line, sizeof line, "\n");
        append(line, sizeof line, crashes[index].name);
        append(line, sizeof line, " ends the process in schedule ");
        appendNumber(line, sizeof line, thread->number);
        if (*thread->test) append(line, sizeof line, " of the test "), append(line, sizeof line, thread->test);
        append(line, sizeof line, " · repeat it with TASK_OPERATIONS_SCHEDULE='");
        if (thread->only) append(line, sizeof line, thread->only);
        else append(line, sizeof line, "#"), appendNumber(line, sizeof line, thread->number);
        append(line, sizeof line, "'");
        if (*thread->test) {
            append(line, sizeof line, " TASK_OPERATIONS_TEST='");
            append(line, sizeof line, thread->test);
            append(line, sizeof line, "'");
        }
        if (thread->forks > 0) append(line, sizeof line, ", which no copy of the process has shown");
        if (thread->forks == 0) append(line, sizeof line, FORK_HINT);
        append(line, sizeof line, "\n");
        if (write(2, line, strlen(line)) < 0) { /* Nobody reads it. */ }
    }
    // The cause appears again after the return, and has its former effect. A signal that was sent must be sent again.
    sigaction(number, &formerActions[index], 0);
    if (information->si_code <= 0) raise(number);
    errno = former;
}

static void nameCrashes(SchedulesThread *thread) {
    for (int index = 0; index < crashCount; index++) {
        struct sigaction action = {.sa_sigaction = noteCrash, .sa_flags = SA_SIGINFO | SA_ONSTACK}, present;
        if (sigaction(crashes[index].number, 0, &present) || present.sa_sigaction == noteCrash) continue;
        formerActions[index] = present;
        sigaction(crashes[index].number, &action, 0);
    }
    thread->signalStack = addSignalStack();
}

void schedulesEnd(SchedulesThread *thread) {
    free(thread->only);
#if defined(CONTROLS_THREADS)
    endWorkers(thread);
#endif
    removeSignalStack(thread->signalStack);
}

void schedulesPrepare(SchedulesThread *thread, const char *test, const char *only) {
    if (test) strncpy(thread->test, test, sizeof thread->test - 1);
    thread->only = only ? strdup(only) : 0;
    nameCrashes(thread);
    // The hook of a watch must be the earlier one, or each would precede the other.
    taskDumpBeginProgress();
    INSTALL(swift_task_enqueueGlobal_hook, schedulesTake, previousEnqueue)
    INSTALL(swift_task_enqueueGlobalWithDelay_hook, enqueueAfter, previousEnqueueAfter)
    INSTALL(swift_task_enqueueGlobalWithDeadline_hook, enqueueAt, previousEnqueueAt)
    INSTALL(swift_task_getMainExecutor_hook, mainExecutor, previousMain)
    __atomic_store_n(&taskDumpCreationHook, creation, __ATOMIC_RELEASE);
    for (int clock = 0; clock < 8; clock++) {
        struct timespec now = {0, 0};
        clock_gettime(clock, &now);
        thread->origins[clock] = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    }
}

void schedulesEnter(SchedulesThread *thread) { current = thread; }

const char *schedulesEnvironment(const char *name) { return getenv(name); }

// MARK: - Closures

static _Thread_local int allowsEscape;

void schedulesAllowEscape(void) { allowsEscape = 1; }

__attribute__((weak, swiftcall)) _Bool swift_isEscapingClosureAtFileLocation(
    const void *closure, const unsigned char *file, int32_t fileLength, int32_t line, int32_t column, unsigned kind) {
    ORIGINAL(swift_isEscapingClosureAtFileLocation)
    int isAllowed = allowsEscape;
    allowsEscape = 0;
    return isAllowed ? 0 : original(closure, file, fileLength, line, column, kind);
}

// MARK: - Time

void schedulesSleep(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, 0);
}

#if defined(__linux__)
// The runtime, Foundation and other libraries of the program call this definition, too.
__attribute__((weak)) int clock_gettime(clockid_t clock, struct timespec *time) {
    ORIGINAL(clock_gettime)
    int isVirtual = current && (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
                                clock == CLOCK_BOOTTIME);
    if (!isVirtual) return original(clock, time);
    int64_t now = current->origins[clock] + current->elapsed;
    *time = (struct timespec){now / 1000000000, now % 1000000000};
    current->clockReads++;
    return 0;
}

__attribute__((weak)) time_t time(time_t *result) {
    ORIGINAL(time)
    if (!current) return original(result);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

// Other C libraries declare another second parameter.
#if defined(__GLIBC__)
__attribute__((weak)) int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    ORIGINAL(gettimeofday)
    if (!current) return original(result, zone);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *result = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}
#endif

// MARK: - Work of other threads

#if defined(__GLIBC__)
// Foundation and the Swift interface of Dispatch call these definitions, too.
#define COUNTED(result, name, parameters, arguments) \
    __attribute__((weak)) result name parameters { \
        ORIGINAL(name) \
        needThread(); \
        if (current) current->foreignWork++; \
        return original arguments; \
    }
COUNTED(int, pthread_create,
    (pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument),
    (thread, attributes, start, argument))
COUNTED(void, dispatch_async, (void *queue, void *block), (queue, block))
COUNTED(void, dispatch_barrier_async, (void *queue, void *block), (queue, block))
COUNTED(void, dispatch_group_async, (void *group, void *queue, void *block), (group, queue, block))
COUNTED(void, dispatch_after, (uint64_t when, void *queue, void *block), (when, queue, block))
#endif

int schedulesTakesClocks(void) { return dlsym(RTLD_DEFAULT, "clock_gettime") == (void *)clock_gettime; }
#else
int schedulesTakesClocks(void) { return 0; }
#endif
#endif

#if !defined(__GLIBC__)
int schedulesFork(SchedulesThread *thread, int64_t limit, char *output, size_t size, SchedulesCrash *crash) {
    *output = 0;
    *crash = (SchedulesCrash){0, 0};
    return 0;
}
#endif

#if !defined(CONTROLS_THREADS)
// No job is interrupted.
void schedulesPoint(void) {}

SchedulesWorker *schedulesContinue(
    SchedulesThread *thread, SchedulesWorker *worker, const void *job, SchedulesPause *pause) {
    return 0;
}
#endif
