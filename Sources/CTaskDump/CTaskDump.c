#define _GNU_SOURCE
#include "CTaskDump.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(_WIN32) || defined(__wasi__)
int taskDumpSignal(TaskDumpSignal signal) { return 0; }
int taskDumpOnSignal(int signal, void (*function)(void)) { return 0; }
int taskDumpStartThread(void (*function)(void *), void *argument) { return 0; }
void taskDumpPrint(const char *text, size_t count) {}
void taskDumpSleep(int64_t nanoseconds) {}
int taskDumpTakesTasks(void) { return 0; }
int taskDumpIsStatic(void) { return 0; }
#else
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

int taskDumpSignal(TaskDumpSignal signal) {
    return signal == TaskDumpQuit ? SIGQUIT : signal == TaskDumpUser1 ? SIGUSR1 : SIGUSR2;
}

void taskDumpPrint(const char *text, size_t count) {
    while (count > 0) {
        ssize_t written = write(2, text, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        count -= written;
    }
}

void taskDumpSleep(int64_t nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    while (nanosleep(&time, &time) && errno == EINTR) {}
}

// MARK: - Programs

typedef struct {
    void (*function)(void *);
    void *argument;
} ThreadStart;

static void *runThread(void *argument) {
    ThreadStart start = *(ThreadStart *)argument;
    free(argument);
    start.function(start.argument);
    return 0;
}

int taskDumpStartThread(void (*function)(void *), void *argument) {
    ThreadStart *start = malloc(sizeof *start);
    if (!start) return 0;
    *start = (ThreadStart){function, argument};
    // Signals of the program belong to the threads of the program. The thread receives its own faults, and the questions
    // of other dumps.
    sigset_t blocked, former;
    sigfillset(&blocked);
    const int own[] = {SIGPROF, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
    for (size_t index = 0; index < sizeof own / sizeof *own; index++) sigdelset(&blocked, own[index]);
    pthread_sigmask(SIG_SETMASK, &blocked, &former);
    pthread_t thread;
    int failure = pthread_create(&thread, 0, runThread, start);
    pthread_sigmask(SIG_SETMASK, &former, 0);
    if (failure) free(start);
    else pthread_detach(thread);
    return !failure;
}

// The handler of a signal may call few functions. It writes a byte, and a thread that reads the byte does the work.
typedef struct {
    int pipe[2];
    /// A child by `fork` has the same pipe, and its signals are not those of this process.
    pid_t process;
    void (*function)(void);
} SignalSource;
static SignalSource *sources[65];

static void noteSignal(int number) {
    int former = errno;
    SignalSource *source = __atomic_load_n(&sources[number], __ATOMIC_ACQUIRE);
    if (source && source->process == getpid() && write(source->pipe[1], "", 1) < 0) {
        // The pipe is full: the thread has signals to read.
    }
    errno = former;
}

static void serveSignal(void *argument) {
    SignalSource *source = argument;
    char bytes[64];
    while (1) {
        ssize_t count = read(source->pipe[0], bytes, sizeof bytes);
        if (count > 0) source->function();
        else if (count == 0 || errno != EINTR) return;
    }
}

int taskDumpOnSignal(int number, void (*function)(void)) {
    if (number <= 0 || number > 64) return 0;
    SignalSource *source = __atomic_load_n(&sources[number], __ATOMIC_ACQUIRE);
    if (!source) {
        source = malloc(sizeof *source);
        if (!source) return 0;
        source->function = function;
        source->process = getpid();
        if (pipe(source->pipe)) return free(source), 0;
        for (int end = 0; end < 2; end++) fcntl(source->pipe[end], F_SETFD, FD_CLOEXEC);
        fcntl(source->pipe[1], F_SETFL, O_NONBLOCK);
        SignalSource *none = 0;
        if (!__atomic_compare_exchange_n(&sources[number], &none, source, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            close(source->pipe[0]), close(source->pipe[1]), free(source);
        } else if (!taskDumpStartThread(serveSignal, source)) {
            // The memory remains, because a handler may be reading it. A later call begins again.
            __atomic_store_n(&sources[number], 0, __ATOMIC_RELEASE);
            return 0;
        }
    }
    struct sigaction action = {.sa_handler = noteSignal, .sa_flags = SA_RESTART | SA_ONSTACK};
    return sigaction(number, &action, 0) == 0;
}
#endif

#if !(defined(__linux__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__)))
// The layout of the runtime is not known here.
int taskDumpBegin(void) { return 0; }
size_t taskDumpList(TaskDumpBirth *births, size_t capacity) { return 0; }
void taskDumpFreeNames(TaskDumpBirth *births, size_t count) {}
int taskDumpIsListed(const void *task, uint64_t number) { return 1; }
int taskDumpIsLiving(const void *task, uint64_t number) { return 0; }
void taskDumpBeginProgress(void) {}
void taskDumpIgnoreThread(void) {}
uint64_t taskDumpProgress(void) { return 0; }
int64_t taskDumpNow(void) { return 0; }
void taskDumpNoteSleep(int64_t delay) {}
int taskDumpRead(
    const void *task, uint64_t number, TaskDumpState *state, TaskDumpChild *children, size_t *childCount, size_t capacity) {
    return *childCount = 0;
}
int taskDumpCopy(const void *address, void *bytes, size_t count) { return 0; }
size_t taskDumpThreads(
    TaskDumpThread *threads, size_t capacity, const void *const *running, size_t runningCount,
    const TaskDumpExecutorReference *executors, size_t executorCount) { return 0; }
const char *taskDumpCallName(int64_t call) { return 0; }
const void *taskDumpMainExecutor(void) { return 0; }
const void *taskDumpCurrentActor(void) { return 0; }
int taskDumpProcess(void) { return 0; }
int taskDumpProcessorCount(void) { return 1; }
uint64_t taskDumpCurrentTask(void) { return 0; }
void taskDumpReadCallers(void **frame, int skipped, const void *callers[taskDumpCallerCount]) { callers[0] = 0; }
int taskDumpHasLock(void) { return 0; }
#if !(defined(_WIN32) || defined(__wasi__))
static int isListing;
static char *copyName(const void *options) { return 0; }
static void list(const void *task, char *name, void **frame) {}
#endif
#else
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

// The functions and variables of the runtime: include/swift/Runtime/Concurrency.h and stdlib/public/Concurrency/Debug.h
// of the Swift repository. A runtime that lacks one of them leaves its address null.
#define RUNTIME __attribute__((weak, swiftcall)) extern
RUNTIME uint64_t swift_task_getJobTaskId(const void *job);
RUNTIME void *swift_task_getCurrent(void);
typedef struct {
    const void *identity;
    uintptr_t implementation;
} Executor;
RUNTIME Executor swift_task_getCurrentExecutor(void);
RUNTIME Executor swift_task_getMainExecutor(void);
__attribute__((weak)) extern const void *const _swift_concurrency_debug_asyncTaskMetadata;
__attribute__((weak)) extern const void *const _swift_concurrency_debug_future_adapter;
__attribute__((weak)) extern const void *const _swift_concurrency_debug_non_future_adapter;
__attribute__((weak)) extern const size_t _swift_concurrency_debug_asyncTaskSize;
__attribute__((weak)) extern const uint32_t _swift_concurrency_debug_internal_layout_version;
// Swift 6.5 has its own list: stdlib/public/Concurrency/TaskRegistry.h.
RUNTIME void _swift_concurrency_debug_task_registryWalk(void (*visit)(void *task, void *list), void *list);

// The layouts of include/swift/ABI/Task.h, include/swift/ABI/TaskStatus.h and stdlib/public/Concurrency/TaskPrivate.h in
// Swift 6.2 to 6.4, which the layout version 1 stands for. The fields of the list of Swift 6.5 follow those of `Task`.
enum { knownVersion = 1, knownTaskSize = 208 };
#define taskSize _swift_concurrency_debug_asyncTaskSize

typedef struct {
    const void *isa;
    uintptr_t references;
    void *scheduler[2];
    uint32_t jobFlags;
    uint32_t lowNumber;
    void *voucher, *reserved;
    const void *resume;
    const void *context;
    void *reserved64;
    uintptr_t exclusivity[2];
    uint32_t flags, unused;
    const void *record;
    void *allocator[3];
    void *locals;
    uint32_t highNumber, padding;
    uintptr_t basePriority;
    const void *dependency;
} Task;

enum {
    kindMask = 0xFF, isChild = 1 << 24, isGroupChild = 1 << 26,
    priorityMask = 0xFF, isCancelled = 0x100, isRunning = 0x800, isEnqueued = 0x1000, isComplete = 0x2000,
    hasDependency = 0x4000,
};

/// An asynchronous function sets this bit of the frame pointer that it stores.
static const uintptr_t asyncFrame = (uintptr_t)1 << 60;

typedef struct {
    uintptr_t flags;
    const void *parent;
    /// The object of a dependency, or the first child.
    const void *object;
    uintptr_t implementation;
    uint32_t dependency;
} Record;
enum { childRecord = 1 };

typedef struct {
    const void *parent, *nextChild, *group;
} Child;

// MARK: - Memory that may be gone

int taskDumpCopy(const void *address, void *bytes, size_t count) {
    struct iovec here = {bytes, count}, there = {(void *)address, count};
    ssize_t copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (copied >= 0) return (size_t)copied == count;
    if (errno != EPERM && errno != ENOSYS) return 0;
    // Some sandboxes forbid the call.
    static int memory = -1;
    int file = __atomic_load_n(&memory, __ATOMIC_ACQUIRE);
    if (file < 0) {
        int opened = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        if (opened < 0) return 0;
        if (__atomic_compare_exchange_n(&memory, &file, opened, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) file = opened;
        else close(opened);
    }
    return pread(file, bytes, count, (off_t)(uintptr_t)address) == (ssize_t)count;
}

#define COPY(address, value) taskDumpCopy(address, &(value), sizeof(value))

// MARK: - The list

// Hash tables with open addressing. Threads meet only if their tasks are in the same shard.
enum { shardCount = 32 };
typedef struct __attribute__((aligned(64))) {
    pthread_mutex_t lock;
    TaskDumpBirth *births;
    /// A power of two, or 0.
    size_t capacity;
    size_t living;
    /// The places that are not null. The removed tasks among them have the address 1.
    size_t used;
} Shard;
static Shard shards[shardCount] = {[0 ... shardCount - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static int isListing;
static const void *const removed = (const void *)1;

static size_t hash(const void *task) { return ((uintptr_t)task >> 4) * 0x9E3779B97F4A7C15u >> 24; }
static Shard *shardOf(const void *task) { return &shards[hash(task) % shardCount]; }
static int isTask(const void *task) { return (uintptr_t)task > 1; }

/// The place of a task, or a free place for it.
static TaskDumpBirth *place(Shard *shard, const void *task) {
    size_t index = hash(task) / shardCount;
    TaskDumpBirth *free = 0;
    while (1) {
        TaskDumpBirth *birth = &shard->births[index++ & (shard->capacity - 1)];
        if (birth->task == task) return birth;
        if (!free && !isTask(birth->task)) free = birth;
        if (!birth->task) return free;
    }
}

static int growIfNeeded(Shard *shard) {
    if (shard->used * 2 < shard->capacity) return 1;
    size_t capacity = 64;
    while (capacity < shard->living * 4) capacity *= 2;
    TaskDumpBirth *births = calloc(capacity, sizeof *births);
    if (!births) return 0;
    Shard larger = {.births = births, .capacity = capacity};
    for (size_t index = 0; index < shard->capacity; index++) {
        TaskDumpBirth *birth = &shard->births[index];
        if (isTask(birth->task)) *place(&larger, birth->task) = *birth;
    }
    free(shard->births);
    shard->births = births;
    shard->capacity = capacity;
    shard->used = shard->living;
    return 1;
}

static _Thread_local int ownLocks;

int taskDumpHasLock(void) { return ownLocks > 0; }

static void lockMutex(pthread_mutex_t *mutex) {
    ownLocks++;
    pthread_mutex_lock(mutex);
}

static void unlockMutex(pthread_mutex_t *mutex) {
    pthread_mutex_unlock(mutex);
    ownLocks--;
}

/// Lists a task, unless it is listed.
static void add(const TaskDumpBirth *birth) {
    Shard *shard = shardOf(birth->task);
    char *unneeded = birth->name;
    lockMutex(&shard->lock);
    // A task that cannot be listed is left out.
    if (growIfNeeded(shard)) {
        TaskDumpBirth *found = place(shard, birth->task);
        // The memory of a child of `async let` can belong to another task without a call of `destroy`.
        if (found->task != birth->task || found->number != birth->number) {
            unneeded = found->task == birth->task ? found->name : 0;
            if (!found->task) shard->used++;
            if (!isTask(found->task)) shard->living++;
            *found = *birth;
        }
    }
    unlockMutex(&shard->lock);
    free(unneeded);
}

static void removeTask(const void *task) {
    Shard *shard = shardOf(task);
    char *name = 0;
    lockMutex(&shard->lock);
    if (shard->capacity) {
        TaskDumpBirth *birth = place(shard, task);
        if (birth->task == task) birth->task = removed, shard->living--, name = birth->name;
    }
    unlockMutex(&shard->lock);
    free(name);
}

static void setWakeTime(const void *task, int64_t time) {
    Shard *shard = shardOf(task);
    lockMutex(&shard->lock);
    if (shard->capacity) {
        TaskDumpBirth *birth = place(shard, task);
        if (birth->task == task) birth->wakeTime = time;
    }
    unlockMutex(&shard->lock);
}

/// A part of the list of births.
typedef struct {
    TaskDumpBirth *births;
    size_t count, capacity;
} Copies;

/// Copies a task of the runtime's list. The runtime holds locks meanwhile.
static void copyRegistered(void *task, void *list) {
    Copies *copies = list;
    if (copies->count < copies->capacity)
        copies->births[copies->count] =
            (TaskDumpBirth){.task = task, .number = swift_task_getJobTaskId(task), .isOfRuntime = 1};
    copies->count++;
}

static void readImages(void);

size_t taskDumpList(TaskDumpBirth *births, size_t capacity) {
    size_t count = 0;
    readImages();
    for (int number = 0; number < shardCount; number++) {
        Shard *shard = &shards[number];
        lockMutex(&shard->lock);
        for (size_t index = 0; index < shard->capacity; index++) {
            if (!isTask(shard->births[index].task)) continue;
            if (count < capacity) {
                births[count] = shard->births[index];
                if (births[count].name) births[count].name = strdup(births[count].name);
            }
            count++;
        }
        unlockMutex(&shard->lock);
    }
    if (!_swift_concurrency_debug_task_registryWalk) return count;
    Copies copies = {births, count, capacity};
    _swift_concurrency_debug_task_registryWalk(copyRegistered, &copies);
    return copies.count;
}

int taskDumpIsListed(const void *task, uint64_t number) {
    Shard *shard = shardOf(task);
    lockMutex(&shard->lock);
    TaskDumpBirth *birth = shard->capacity ? place(shard, task) : 0;
    int isListed = birth && birth->task == task && birth->number == number;
    unlockMutex(&shard->lock);
    return isListed;
}

void taskDumpFreeNames(TaskDumpBirth *births, size_t count) {
    for (size_t index = 0; index < count; index++) free(births[index].name);
}

// MARK: - Births

/// The end of the calling thread's stack; 0 if it is not known.
static uintptr_t stackEnd(void) {
    static _Thread_local uintptr_t end = 0;
    pthread_attr_t attributes;
    void *start;
    size_t size;
    if (end || pthread_getattr_np(pthread_self(), &attributes)) return end;
    if (pthread_attr_getstack(&attributes, &start, &size) == 0) end = (uintptr_t)start + size;
    pthread_attr_destroy(&attributes);
    return end;
}

void taskDumpReadCallers(void **frame, int skipped, const void *callers[taskDumpCallerCount]) {
    uintptr_t end = stackEnd(), next = (uintptr_t)frame;
    int count = -skipped;
    // A frame pointer can be any number, because not all code has frame pointers.
    while (count < taskDumpCallerCount && next <= end - 2 * sizeof(void *) && next % sizeof(void *) == 0) {
        uintptr_t present = next;
        if (count >= 0) callers[count] = ((void **)present)[1];
        count++;
        next = (uintptr_t)((void **)present)[0] & ~asyncFrame;
        if (next <= present || next - present >= 1 << 20) break;
    }
    for (count = count < 0 ? 0 : count; count < taskDumpCallerCount; count++) callers[count] = 0;
}

// TaskOperationsTesting defines it. A program without that product has none.
__attribute__((weak)) extern void taskDumpTestCreatesTask(uint64_t task, double seconds);
/// The seconds after which a test receives a dump; 0 if the environment names none.
static double testSeconds;
/// The code of Testing.
static uintptr_t testingStart, testingEnd;

/// The name in the options of a new task: include/swift/ABI/TaskOptions.h. Null if there is none.
static char *copyName(const void *options) {
    const struct Option {
        size_t kind;
        const struct Option *parent;
        const char *name;
    } *option = options;
    enum { taskName = 7 };
    while (option && (option->kind & 0xFF) != taskName) option = option->parent;
    return option && option->name ? strndup(option->name, taskDumpNameSize) : 0;
}

static void list(const void *task, char *name, void **frame) {
    // The task may already have ended. The caller has a reference to it.
    TaskDumpBirth birth = {.task = task, .number = swift_task_getJobTaskId(task), .name = name};
    taskDumpReadCallers(frame, 0, birth.callers);
    add(&birth);
    uintptr_t caller = (uintptr_t)birth.callers[0];
    if (caller >= testingStart && caller < testingEnd) taskDumpTestCreatesTask(birth.number, testSeconds);
}

static int findTesting(struct dl_phdr_info *library, size_t size, void *unused) {
    if (!strstr(library->dlpi_name, "libTesting.so")) return 0;
    for (int index = 0; index < library->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        testingStart = library->dlpi_addr + part->p_vaddr;
        testingEnd = testingStart + part->p_memsz;
    }
    return 1;
}

/// Lists tasks from the start of a process of tests, if the environment asks for dumps of tests.
__attribute__((constructor)) static void beginForTests(void) {
    const char *seconds = getenv("TASK_DUMP_AFTER");
    if (!seconds) return;
    if (!taskDumpTestCreatesTask) {
        if (dl_iterate_phdr(findTesting, 0))
            dprintf(2, "TASK_DUMP_AFTER has no effect: the test target needs the product TaskOperationsTesting.\n");
        return;
    }
    char *end = 0;
    testSeconds = strtod(seconds, &end);
    if (end == seconds || *end || !(testSeconds > 0)) {
        dprintf(2, "TASK_DUMP_AFTER is \"%.40s\"; it must be a positive number of seconds. No test receives a dump.\n", seconds);
        testSeconds = 0;
    }
    if (testSeconds > 1e9) testSeconds = 1e9;
    if (testSeconds > 0 && taskDumpBegin()) dl_iterate_phdr(findTesting, 0);
}

// MARK: - Deaths

// The runtime calls this function of the type's metadata when the last reference to a task is released.
typedef __attribute__((swiftcall)) void Destroy(__attribute__((swift_context)) void *object);
static Destroy *destroyOriginal;

static __attribute__((swiftcall)) void destroy(__attribute__((swift_context)) void *object) {
    removeTask(object);
    destroyOriginal(object);
}

// MARK: - Progress

// The runtime calls these functions for each job of the pool and of the main actor.
typedef __attribute__((swiftcall)) void Enqueue(void *job);
typedef __attribute__((swiftcall)) void EnqueueHook(void *job, Enqueue *original);
__attribute__((weak)) extern EnqueueHook *swift_task_enqueueGlobal_hook, *swift_task_enqueueMainExecutor_hook;
static EnqueueHook *previousGlobal, *previousMain;
/// Whether progress is counted. Threads that only read it do not hold up each other.
static int isAwaited;
static uint64_t progress;
static _Thread_local int isIgnored;

static void noteProgress(void) {
    if (!__atomic_load_n(&isAwaited, __ATOMIC_RELAXED) || isIgnored) return;
    __atomic_store_n(&isAwaited, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&progress, 1, __ATOMIC_RELAXED);
}

static __attribute__((swiftcall)) void enqueueGlobal(void *job, Enqueue *original) {
    noteProgress();
    if (previousGlobal) previousGlobal(job, original);
    else original(job);
}

static __attribute__((swiftcall)) void enqueueMain(void *job, Enqueue *original) {
    noteProgress();
    if (previousMain) previousMain(job, original);
    else original(job);
}

static void setHooks(void) {
    previousGlobal = swift_task_enqueueGlobal_hook;
    previousMain = swift_task_enqueueMainExecutor_hook;
    __atomic_store_n(&swift_task_enqueueGlobal_hook, enqueueGlobal, __ATOMIC_RELEASE);
    __atomic_store_n(&swift_task_enqueueMainExecutor_hook, enqueueMain, __ATOMIC_RELEASE);
}

void taskDumpBeginProgress(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (&swift_task_enqueueGlobal_hook && &swift_task_enqueueMainExecutor_hook) pthread_once(&once, setHooks);
}

void taskDumpIgnoreThread(void) { isIgnored = 1; }

uint64_t taskDumpProgress(void) {
    uint64_t count = __atomic_load_n(&progress, __ATOMIC_RELAXED);
    __atomic_store_n(&isAwaited, 1, __ATOMIC_RELAXED);
    return count;
}

// MARK: - Sleeps

int64_t taskDumpNow(void) {
    // Not `clock_gettime`, which can be that of an exploration of schedules.
    struct timespec now = {0, 0};
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void taskDumpNoteSleep(int64_t delay) {
    const void *task = __atomic_load_n(&isListing, __ATOMIC_ACQUIRE) ? swift_task_getCurrent() : 0;
    if (!task) return;
    int64_t time;
    if (__builtin_add_overflow(taskDumpNow(), delay, &time)) time = INT64_MAX;
    noteProgress();
    setWakeTime(task, time);
}

/// Notes the end of a sleep of the calling task, which ends with a job.
static void noteSleep(uint64_t when, const void *job) {
    struct {
        uintptr_t words[4];
        uint32_t flags;
    } head;
    enum { asyncTask = 0, continuationJob = 195 };
    // The time is that of a clock which pauses while the system sleeps, or of one which does not. Others have both bits.
    const uint64_t isContinuous = (uint64_t)1 << 63, isOther = (uint64_t)1 << 62;
    if (when & isOther || !COPY(job, head)) return;
    if ((head.flags & kindMask) != asyncTask && (head.flags & kindMask) != continuationJob) return;
    struct timespec now = {0, 0};
    syscall(SYS_clock_gettime, when & isContinuous ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &now);
    taskDumpNoteSleep((int64_t)(when & ~isContinuous) - ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec));
}

/// The runtime calls this function of Dispatch at the start of a sleep. The definition precedes that of Dispatch.
__attribute__((weak)) void dispatch_after_f(uint64_t when, void *queue, void *context, void (*work)(void *)) {
    static __typeof__(dispatch_after_f) *stored;
    __typeof__(dispatch_after_f) *original = __atomic_load_n(&stored, __ATOMIC_RELAXED);
    if (!original) {
        original = (__typeof__(dispatch_after_f) *)dlsym(RTLD_NEXT, "dispatch_after_f");
        __atomic_store_n(&stored, original, __ATOMIC_RELAXED);
    }
    if (__atomic_load_n(&isListing, __ATOMIC_ACQUIRE)) noteSleep(when, context);
    original(when, queue, context, work);
}

// MARK: - Beginning

/// Whether the tasks of this runtime can be read.
static int isRuntimeKnown(void) {
    return &_swift_concurrency_debug_asyncTaskMetadata && &_swift_concurrency_debug_asyncTaskSize &&
           &_swift_concurrency_debug_internal_layout_version && &_swift_concurrency_debug_future_adapter &&
           &_swift_concurrency_debug_non_future_adapter && swift_task_getJobTaskId && swift_task_getCurrent &&
           swift_task_getCurrentExecutor && _swift_concurrency_debug_internal_layout_version == knownVersion &&
           (taskSize == knownTaskSize || _swift_concurrency_debug_task_registryWalk);
}

/// Begins, unless that is done.
static int begin(void) {
    static pthread_mutex_t beginning = PTHREAD_MUTEX_INITIALIZER;
    if (__atomic_load_n(&isListing, __ATOMIC_ACQUIRE)) return 1;
    if (!isRuntimeKnown() || !taskDumpTakesTasks()) return 0;
    lockMutex(&beginning);
    if (!isListing) {
        // Allocated now, because a program that measures its own memory would count a later allocation.
        for (int number = 0; number < shardCount; number++) growIfNeeded(&shards[number]);
        Destroy **slot = (Destroy **)_swift_concurrency_debug_asyncTaskMetadata - 2;
        uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)slot & ~(size - 1);
        if (mprotect((void *)page, size, PROT_READ | PROT_WRITE)) {
            unlockMutex(&beginning);
            return 0;
        }
        destroyOriginal = *slot;
        __atomic_store_n(slot, destroy, __ATOMIC_RELEASE);
        // The first call of a function can take a lock of the loader, which a handler must not do.
        (void)swift_task_getCurrentExecutor();
        (void)taskDumpCopy(&isListing, &(int){0}, sizeof(int));
        __atomic_store_n(&isListing, 1, __ATOMIC_RELEASE);
    }
    unlockMutex(&beginning);
    return 1;
}

int taskDumpBegin(void) {
    if (!begin()) return 0;
    // The task may be older than the list.
    const void *current = swift_task_getCurrent();
    if (current) add(&(TaskDumpBirth){.task = current, .number = swift_task_getJobTaskId(current)});
    return 1;
}

// MARK: - One task

static uint64_t numberOf(const Task *task) { return (uint64_t)task->highNumber << 32 | task->lowNumber; }

static int isSame(const Task *one, const Task *other) {
    return one->isa == other->isa && numberOf(one) == numberOf(other) && one->resume == other->resume &&
           one->context == other->context && one->flags == other->flags && one->record == other->record &&
           one->dependency == other->dependency;
}

static int isLivingTask(const Task *task) {
    return task->isa == _swift_concurrency_debug_asyncTaskMetadata && (task->jobFlags & kindMask) == 0 &&
           !(task->flags & isComplete);
}

int taskDumpIsLiving(const void *task, uint64_t number) {
    Task head;
    if (!isRuntimeKnown()) return 0;
    // With the list of the runtime, a task can be older than this list.
    int listsAll = __atomic_load_n(&isListing, __ATOMIC_ACQUIRE) && !_swift_concurrency_debug_task_registryWalk;
    if (listsAll && !taskDumpIsListed(task, number)) return 0;
    return COPY(task, head) && isLivingTask(&head) && numberOf(&head) == number;
}

/// A task and the memory after it, up to the end of a page. Most functions of a task have their contexts there, so one
/// call of the system copies them all.
typedef struct {
    uintptr_t start;
    size_t count;
    _Alignas(16) char bytes[4096];
} Window;

static int readWindow(Window *window, const void *address) {
    window->start = (uintptr_t)address;
    window->count = 4096 - window->start % 4096;
    if (window->count < taskSize + sizeof(Child)) window->count = taskSize + sizeof(Child);
    if (taskDumpCopy(address, window->bytes, window->count)) return 1;
    // The task is at the end of the memory.
    window->count = taskSize;
    return taskDumpCopy(address, window->bytes, window->count);
}

static int copyNear(const Window *window, const void *address, void *bytes, size_t count) {
    uintptr_t from = (uintptr_t)address - window->start;
    if (from > window->count || window->count - from < count) return taskDumpCopy(address, bytes, count);
    memcpy(bytes, window->bytes + from, count);
    return 1;
}

#define COPY_NEAR(window, address, value) copyNear(window, address, &(value), sizeof(value))

/// Reads the children of a task that are no children of a group.
static void readChildren(
    const Task *task, const Window *window, TaskDumpChild *children, size_t *childCount, size_t capacity) {
    Record record;
    const void *next = task->record;
    for (int index = 0; index < 1000 && next && COPY_NEAR(window, next, record); index++, next = record.parent) {
        if ((record.flags & kindMask) != childRecord) continue;
        const void *child = record.object;
        while (child && *childCount < capacity) {
            Task head;
            Child links;
            if (!COPY(child, head) || !isLivingTask(&head)) break;
            if (!COPY((const char *)child + taskSize, links) || (uintptr_t)links.parent != window->start) break;
            children[(*childCount)++] = (TaskDumpChild){child, numberOf(&head)};
            child = links.nextChild;
        }
    }
}

static int isInImage(uintptr_t address);

/// Whether an address is that of the metadata of a class: include/swift/ABI/Metadata.h. It is then never freed.
static int isClass(const void *type) {
    enum { descriptionIndex = 5, classKind = 16, descriptionKindMask = 0x1F };
    uintptr_t words[descriptionIndex + 1];
    uint32_t flags;
    return COPY(type, words) && words[0] == 0 && isInImage(words[descriptionIndex]) &&
           COPY((const void *)words[descriptionIndex], flags) && (flags & descriptionKindMask) == classKind;
}

static void readWait(const Task *task, const Window *window, TaskDumpState *state) {
    Record record, again;
    if (!(task->flags & hasDependency) || !task->dependency || !COPY_NEAR(window, task->dependency, record)) return;
    if (record.dependency < TaskDumpTask || record.dependency > TaskDumpExecutor) return;
    Task awaited;
    uint64_t number = 0;
    const void *type = 0;
    if (record.dependency == TaskDumpTask && COPY(record.object, awaited)) number = numberOf(&awaited);
    // A default actor has no implementation, and its type is a Swift class.
    if (record.dependency == TaskDumpExecutor && record.object && !record.implementation)
        if (!COPY(record.object, type) || !isClass(type)) type = 0;
    // The object exists while the task waits for it.
    if (!COPY(task->dependency, again) || again.object != record.object || again.dependency != record.dependency) return;
    state->wait = record.dependency;
    state->object = record.object;
    state->implementation = record.implementation;
    state->objectNumber = number;
    state->objectType = type;
}

/// The memory of the program and its libraries, as `dl_iterate_phdr` reports it.
typedef struct {
    /// The number of changes of the list of libraries.
    unsigned long long changes;
    size_t count, capacity;
    struct {
        uintptr_t start, end;
    } parts[];
} Images;
static Images *images;

static int addImage(struct dl_phdr_info *library, size_t size, void *list) {
    Images *images = list;
    images->changes = library->dlpi_adds + library->dlpi_subs;
    for (int index = 0; index < library->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[index];
        if (part->p_type != PT_LOAD) continue;
        if (images->count < images->capacity) {
            uintptr_t start = library->dlpi_addr + part->p_vaddr;
            images->parts[images->count].start = start;
            images->parts[images->count].end = start + part->p_memsz;
        }
        images->count++;
    }
    return 0;
}

/// Reads the list of libraries, if it has changed. `dladdr` would also read the symbols of a library for each address.
static void readImages(void) {
    Images *former = __atomic_load_n(&images, __ATOMIC_ACQUIRE), size = {0, 0, 0};
    dl_iterate_phdr(addImage, &size);
    if (former && former->changes == size.changes) return;
    Images *next = calloc(1, sizeof *next + size.count * sizeof *next->parts);
    if (!next) return;
    next->capacity = size.count;
    dl_iterate_phdr(addImage, next);
    if (next->count > next->capacity) next->count = next->capacity;
    // The former list remains, because another dump may read it.
    __atomic_store_n(&images, next, __ATOMIC_RELEASE);
}

static int isInImage(uintptr_t address) {
    const Images *present = __atomic_load_n(&images, __ATOMIC_ACQUIRE);
    for (size_t index = 0; present && index < present->count; index++)
        if (address >= present->parts[index].start && address < present->parts[index].end) return 1;
    return 0;
}

/// Stores the functions of a closure, and of the closures that it calls: the objects of thunks refer to them. A function
/// of a closure is a pointer to the offset of its code.
static void readClosure(const void *closure, int depth, const void **functions, int *count) {
    uintptr_t words[8];
    int32_t offset;
    if (depth == 3 || !closure || !COPY(closure, words)) return;
    for (int index = 2; index < 8 && *count < taskDumpStartCount; index++) {
        uintptr_t word = words[index];
        if (word < 4096 || word % 4) continue;
        if (isInImage(word)) {
            if (COPY((const void *)word, offset) && isInImage(word + (intptr_t)offset))
                functions[(*count)++] = (const void *)(word + (intptr_t)offset);
        } else if (word % sizeof(void *) == 0) {
            readClosure((const void *)word, depth + 1, functions, count);
        }
    }
}

/// Reads the functions with which a task will begin. An adapter calls them: AsyncContextPrefix and FutureAsyncContextPrefix
/// in include/swift/ABI/Task.h end with the same three fields.
static void readStart(const Task *task, const Window *window, TaskDumpState *state) {
    struct {
        const void *function, *closure, *error;
    } prefix;
    if (task->resume != _swift_concurrency_debug_future_adapter &&
        task->resume != _swift_concurrency_debug_non_future_adapter)
        return;
    if (!COPY_NEAR(window, (const char *)task->context - sizeof prefix, prefix)) return;
    int count = 0;
    state->starts[count++] = prefix.function;
    readClosure(prefix.closure, 0, state->starts, &count);
}

static void readChain(const Task *task, const Window *window, TaskDumpState *state) {
    state->functions[0] = task->resume;
    state->contexts[0] = task->context;
    struct {
        const void *parent, *resume;
    } context;
    const void *next = task->context;
    for (int index = 1; index < taskDumpFrameCount && next && COPY_NEAR(window, next, context); index++) {
        state->functions[index] = context.resume;
        state->contexts[index] = context.parent;
        next = context.parent;
        if (!context.resume) break;
    }
}

int taskDumpRead(
    const void *address, uint64_t number, TaskDumpState *state, TaskDumpChild *children, size_t *childCount, size_t capacity) {
    Window window;
    Task task, again;
    Child child = {0, 0, 0};
    for (int attempt = 0; attempt < 3; attempt++) {
        memset(state, 0, sizeof *state);
        *childCount = 0;
        if (!readWindow(&window, address) || !COPY_NEAR(&window, address, task) || !isLivingTask(&task) || (number && numberOf(&task) != number)) return 0;
        state->task = address;
        state->number = numberOf(&task);
        state->priority = task.flags & priorityMask;
        state->isCancelled = (task.flags & isCancelled) != 0;
        state->status =
            task.flags & isRunning ? TaskDumpRunning : task.flags & isEnqueued ? TaskDumpEnqueued : TaskDumpSuspended;
        if (task.jobFlags & isChild && COPY_NEAR(&window, (const char *)address + taskSize, child)) {
            Task parent;
            state->parent = child.parent;
            if (COPY(child.parent, parent)) state->parentNumber = numberOf(&parent);
            if (task.jobFlags & isGroupChild) state->group = child.group;
        }
        readChildren(&task, &window, children, childCount, capacity);
        readWait(&task, &window, state);
        readChain(&task, &window, state);
        readStart(&task, &window, state);
        if (!COPY(address, again) || !isLivingTask(&again) || numberOf(&again) != state->number) return 0;
        if (isSame(&task, &again)) return 1;
    }
    // The rest may belong to different moments.
    state->status = TaskDumpChanging;
    state->wait = TaskDumpNothing;
    state->functions[0] = state->contexts[0] = state->starts[0] = 0;
    *childCount = 0;
    return 1;
}

// MARK: - Threads

// The places are never freed, because an interrupted thread may write late.
enum { slotCount = 256, slotFree = 0, slotAsked = 1, slotWriting = 2, slotDone = 3, slotPhase = 3 };
typedef struct {
    /// The thread and the phase in one word: a late answer of another thread is none.
    uint64_t state;
    const void *task, *actor;
    uintptr_t frame;
    const void *frames[taskDumpStackSize];
} Slot;
static Slot slots[slotCount];

static uint64_t slotState(int thread, int phase) { return (uint64_t)(uint32_t)thread << 2 | (uint64_t)phase; }

/// Stores the stack of an interrupted thread. Its frame pointer can be any number, so each frame is copied. The unwinder of
/// the C library would trust it, and stop the process.
static void readFrames(Slot *slot, const ucontext_t *context) {
#if defined(__x86_64__)
    slot->frames[0] = (const void *)context->uc_mcontext.gregs[REG_RIP];
    slot->frame = (uintptr_t)context->uc_mcontext.gregs[REG_RBP];
#else
    slot->frames[0] = (const void *)context->uc_mcontext.pc;
    slot->frame = (uintptr_t)context->uc_mcontext.regs[29];
#endif
    uintptr_t frame = slot->frame;
    struct {
        uintptr_t next, caller;
    } record;
    for (int index = 1; index < taskDumpStackSize && frame % sizeof(void *) == 0 && COPY((void *)frame, record); index++) {
        slot->frames[index] = (const void *)record.caller;
        uintptr_t next = record.next & ~asyncFrame;
        if (next <= frame || !record.caller) break;
        frame = next;
    }
}

static void answer(int number, siginfo_t *information, void *context) {
    int former = errno, thread = (int)syscall(SYS_gettid);
    for (int index = 0; index < slotCount; index++) {
        Slot *slot = &slots[index];
        uint64_t asked = slotState(thread, slotAsked);
        if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != asked ||
            !__atomic_compare_exchange_n(
                &slot->state, &asked, slotState(thread, slotWriting), 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        slot->task = swift_task_getCurrent();
        slot->actor = slot->task ? swift_task_getCurrentExecutor().identity : 0;
        memset(slot->frames, 0, sizeof slot->frames);
        readFrames(slot, context);
        __atomic_store_n(&slot->state, slotState(thread, slotDone), __ATOMIC_RELEASE);
        break;
    }
    errno = former;
}

const char *taskDumpCallName(int64_t call) {
    switch (call) {
    case SYS_futex: return "a lock, a semaphore or a condition";
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return "a sleep of the thread";
    case SYS_read:
    case SYS_pread64:
    case SYS_readv: return "a read";
    case SYS_write:
    case SYS_writev: return "a write";
    case SYS_epoll_pwait:
    case SYS_ppoll:
    case SYS_pselect6:
#ifdef SYS_poll
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
        return "an event of a file or socket";
    case SYS_wait4:
    case SYS_waitid: return "the end of a process";
    case SYS_accept:
    case SYS_accept4: return "a connection";
    case SYS_connect: return "the answer to a connection";
    case SYS_recvfrom:
    case SYS_recvmsg: return "data of a socket";
    case SYS_sendto:
    case SYS_sendmsg: return "room in a socket";
    case SYS_flock: return "the lock of a file";
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait: return "a signal";
    default: return 0;
    }
}

/// The system call of a blocked thread.
typedef struct {
    int64_t number;
    uintptr_t arguments[6], stack, counter;
} Call;

/// Reads the system call, the stack pointer and the program counter of a blocked thread: proc(5). Returns 0 if the thread
/// runs, and -1 if the system does not tell it.
static int readCall(int thread, Call *call) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return -1;
    text[count] = 0;
    long long number;
    unsigned long long values[8];
    int found = sscanf(
        text, "%lld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &values[0], &values[1], &values[2], &values[3],
        &values[4], &values[5], &values[6], &values[7]);
    if (found != 9 && found != 3) return strncmp(text, "running", 7) == 0 ? 0 : -1;
    *call = (Call){.number = number, .stack = values[found - 3], .counter = values[found - 2]};
    for (int index = 0; found == 9 && index < 6; index++) call->arguments[index] = values[index];
    return 1;
}

/// The thread that has the lock for which a thread waits; 0 if it is not known.
static int readHolder(int thread, const Call *call) {
    uint32_t words[3];
    const void *address = (const void *)call->arguments[0];
    if (call->number != SYS_futex) return 0;
    switch (call->arguments[1] & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
    case 13:  // FUTEX_LOCK_PI2, which older headers lack.
        // A `Mutex` of Synchronization, or a lock with inheritance of priorities: futex(2).
        if (!COPY(address, words[0])) return 0;
        words[2] = words[0] & FUTEX_TID_MASK;
        break;
    case FUTEX_WAIT:
        // A `pthread_mutex_t` of glibc begins with the lock, a count and the owner. The lock of one with waiters is 2.
        if (call->arguments[2] != 2 || !COPY(address, words) || words[0] != 2) return 0;
        break;
    default: return 0;
    }
    // The thread may have continued meanwhile.
    Call later;
    int isSame = readCall(thread, &later) > 0 && later.number == SYS_futex && later.stack == call->stack &&
                 later.arguments[0] == call->arguments[0];
    return isSame ? (int)words[2] : 0;
}

/// Whether an instruction that calls precedes an address of code.
static int followsCall(uintptr_t address) {
    unsigned char code[8];
    if (!isInImage(address) || !taskDumpCopy((const void *)(address - 8), code, 8)) return 0;
#if defined(__x86_64__)
    if (code[3] == 0xE8) return 1;
    for (int index = 1; index < 7; index++)
        if (code[index] == 0xFF && (code[index + 1] >> 3 & 7) == 2) return 1;
    return 0;
#else
    uint32_t instruction;
    memcpy(&instruction, code + 4, 4);
    return instruction >> 26 == 0x25 || (instruction & 0xFFFFFC1F) == 0xD63F0000;
#endif
}

/// Whether a stack contains one of the functions of the runtime that run a task.
static int runsJob(const TaskDumpThread *thread) {
    Dl_info info;
    for (int index = 0; index < taskDumpStackSize && thread->frames[index]; index++)
        if (dladdr(thread->frames[index], &info) && info.dli_sname && !strncmp(info.dli_sname, "swift_job_run", 13))
            return 1;
    return 0;
}

/// The memory of a stack, from its pointer on.
typedef struct {
    uintptr_t start;
    size_t count;
    uintptr_t words[16384];
} Stack;

static void readStack(Stack *stack, uintptr_t pointer) {
    stack->start = pointer;
    stack->count = 0;
    while (1) {
        uintptr_t address = pointer + stack->count * sizeof(uintptr_t), size = 4096 - address % 4096;
        if (stack->count + size / sizeof(uintptr_t) > sizeof stack->words / sizeof(uintptr_t)) return;
        if (!taskDumpCopy((const void *)address, stack->words + stack->count, size)) return;
        stack->count += size / sizeof(uintptr_t);
    }
}

/// Stores the return addresses of a chain of frames. Returns their number, or 0 if the chain does not contain `anchor`.
static int followFrames(const Stack *stack, uintptr_t frame, uintptr_t anchor, const void **frames, int capacity) {
    uintptr_t end = stack->start + stack->count * sizeof(uintptr_t);
    int depth = 0, isAnchored = anchor == 0;
    while (depth < capacity && frame + 2 * sizeof(uintptr_t) <= end) {
        size_t at = (frame - stack->start) / sizeof(uintptr_t);
        uintptr_t next = stack->words[at] & ~asyncFrame;
        if (!followsCall(stack->words[at + 1])) break;
        frames[depth++] = (const void *)stack->words[at + 1];
        if (frame == anchor || next == anchor) isAnchored = 1;
        if (next <= frame || next % sizeof(uintptr_t)) break;
        frame = next;
    }
    return isAnchored ? depth : 0;
}

/// The target of the call that precedes a return address; 0 if an address in memory or a register named it.
static uintptr_t calledFunction(uintptr_t address) {
    int32_t offset;
#if defined(__x86_64__)
    unsigned char code[5];
    if (!taskDumpCopy((const void *)(address - 5), code, 5) || code[0] != 0xE8) return 0;
    memcpy(&offset, code + 1, sizeof offset);
    return address + (intptr_t)offset;
#else
    if (!taskDumpCopy((const void *)(address - 4), &offset, 4) || (uint32_t)offset >> 26 != 0x25) return 0;
    return address - 4 + ((intptr_t)(offset << 6) >> 4);
#endif
}

/// The place in the function of a frame from which it called functions without frame pointers; 0 if it is not found.
static uintptr_t placeInFunction(const Stack *stack, uintptr_t frame) {
    size_t end = (frame - stack->start) / sizeof(uintptr_t);
    if (end + 1 >= stack->count) return 0;
    uintptr_t function = calledFunction(stack->words[end + 1]), last = 0;
    for (size_t at = 0; at < end; at++) {
        uintptr_t word = stack->words[at];
        if (function ? word <= function || word - function > 1 << 16 : 0) continue;
        if (!followsCall(word)) continue;
        if (function) return word;
        last = word;
    }
    return last;
}

/// Finds the frames of a thread that is in a function without frame pointers, as those of the C library. The first frames
/// that belong together begin the rest.
///
/// - `anchor` is the frame pointer of the thread; 0 if it is not known.
static void searchFrames(TaskDumpThread *thread, const Stack *stack, const void *counter, uintptr_t anchor) {
    uintptr_t end = stack->start + stack->count * sizeof(uintptr_t);
    if (anchor < stack->start || anchor >= end || anchor % sizeof(uintptr_t)) anchor = 0;
    memset(thread->frames, 0, sizeof thread->frames);
    thread->frames[0] = counter;
    for (uintptr_t frame = stack->start; frame < end; frame += sizeof(uintptr_t)) {
        int depth = followFrames(stack, frame, anchor, thread->frames + 1, taskDumpStackSize - 1);
        uintptr_t place = depth >= 3 && frame == anchor ? placeInFunction(stack, frame) : 0;
        if (place) {
            memmove(thread->frames + 2, thread->frames + 1, sizeof thread->frames - 2 * sizeof counter);
            thread->frames[1] = (const void *)place;
        }
        if (depth >= 3) return;
        memset(thread->frames + 1, 0, sizeof thread->frames - sizeof counter);
    }
    if (anchor) searchFrames(thread, stack, counter, 0);
}

/// Finds the task of a thread that was not interrupted: the running task whose address is on the stack, outermost.
static void searchTask(TaskDumpThread *thread, const Stack *stack, const void *const *running, size_t count) {
    if (!runsJob(thread)) return;
    // Inner frames can refer to other tasks.
    for (size_t index = stack->count; index > 0 && !thread->task; index--)
        for (size_t other = 0; other < count; other++)
            if (stack->words[index - 1] == (uintptr_t)running[other]) thread->task = running[other];
}

/// Finds the actor of a thread that was not interrupted: the runtime keeps a reference to the executor on the stack of the
/// thread, as two words.
static void searchActor(
    TaskDumpThread *thread, const Stack *stack, const TaskDumpExecutorReference *executors, size_t count) {
    for (size_t index = 0; thread->task && index + 1 < stack->count && !thread->actor; index++)
        for (size_t other = 0; other < count; other++)
            if (stack->words[index] == (uintptr_t)executors[other].object &&
                stack->words[index + 1] == executors[other].implementation)
                thread->actor = executors[other].object;
}

static void takeAnswers(TaskDumpThread *threads, Slot **asked, size_t from, size_t to) {
    // A thread answers when it has a processor.
    for (int wait = 0; wait < 200; wait++) {
        int isMissing = 0;
        for (size_t index = from; index < to; index++)
            if (asked[index] && (__atomic_load_n(&asked[index]->state, __ATOMIC_ACQUIRE) & slotPhase) != slotDone)
                isMissing = 1;
        if (!isMissing) break;
        taskDumpSleep(wait < 20 ? 50000 : 1000000);
    }
    for (size_t index = from; index < to; index++) {
        Slot *slot = asked[index];
        if (!slot) continue;
        uint64_t state = slotState(threads[index].thread, slotAsked);
        if (__atomic_compare_exchange_n(&slot->state, &state, slotFree, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) continue;
        // A thread that writes now keeps the slot.
        if ((state & slotPhase) != slotDone) continue;
        threads[index].task = slot->task;
        threads[index].actor = slot->actor;
        memcpy(threads[index].frames, slot->frames, sizeof slot->frames);
        threads[index].frame = slot->frame;
        threads[index].isAnswered = 1;
        __atomic_store_n(&slot->state, slotFree, __ATOMIC_RELEASE);
    }
}

static Slot *ask(int thread, size_t *next) {
    for (; *next < slotCount; (*next)++) {
        Slot *slot = &slots[*next];
        // A late answer has left the slot as done.
        if ((__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) & slotPhase) == slotWriting) continue;
        (*next)++;
        __atomic_store_n(&slot->state, slotState(thread, slotAsked), __ATOMIC_RELEASE);
        // Dispatch blocks the other signals on its threads.
        if (syscall(SYS_tgkill, getpid(), thread, SIGPROF) == 0) return slot;
        __atomic_store_n(&slot->state, slotFree, __ATOMIC_RELEASE);
        return 0;
    }
    return 0;
}

const void *taskDumpMainExecutor(void) {
    return swift_task_getMainExecutor ? swift_task_getMainExecutor().identity : 0;
}

uint64_t taskDumpCurrentTask(void) {
    const void *task = swift_task_getCurrent && swift_task_getJobTaskId ? swift_task_getCurrent() : 0;
    return task ? swift_task_getJobTaskId(task) : 0;
}

const void *taskDumpCurrentActor(void) {
    return swift_task_getCurrentExecutor ? swift_task_getCurrentExecutor().identity : 0;
}

int taskDumpProcess(void) { return (int)getpid(); }

int taskDumpProcessorCount(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

size_t taskDumpThreads(
    TaskDumpThread *threads, size_t capacity, const void *const *running, size_t runningCount,
    const TaskDumpExecutorReference *executors, size_t executorCount) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    lockMutex(&lock);
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK}, former;
    int canAsk = __atomic_load_n(&isListing, __ATOMIC_ACQUIRE) && sigaction(SIGPROF, &action, &former) == 0;
    Slot **asked = calloc(capacity + 1, sizeof *asked);
    Stack *stack = malloc(sizeof *stack);
    size_t count = 0, from = 0, next = 0;
    DIR *folder = asked && stack ? opendir("/proc/self/task") : 0;
    for (struct dirent *entry; folder && count < capacity && (entry = readdir(folder));) {
        int number = atoi(entry->d_name);
        if (number <= 0 || number == (int)syscall(SYS_gettid)) continue;
        TaskDumpThread *thread = &threads[count];
        memset(thread, 0, sizeof *thread);
        thread->thread = number;
        Call call = {.number = -1};
        int isBlocked = readCall(number, &call);
        thread->isBlocked = isBlocked == 1;
        thread->call = call.number;
        // The system restarts a wait for a lock after an interruption, unless the wait has a limit of time. Other calls
        // can end early: signal(7). So can one that the thread begins now.
        int isAsked = isBlocked == 0 || (thread->call == SYS_futex && !call.arguments[3]);
        if (canAsk && isAsked) {
            asked[count] = ask(number, &next);
            if (next == slotCount) {
                takeAnswers(threads, asked, from, count + 1);
                from = count + 1, next = 0;
            }
        }
        count++;
    }
    if (folder) closedir(folder);
    if (asked) takeAnswers(threads, asked, from, count);
    for (size_t index = 0; folder && index < count; index++) {
        TaskDumpThread *thread = &threads[index];
        Call call;
        int isBlocked = 0;
        // A thread that has answered returns to its call.
        for (int looks = 0; thread->isBlocked && isBlocked == 0 && looks < 50; looks++) {
            if (looks > 0) usleep(50);
            isBlocked = readCall(thread->thread, &call);
        }
        if (isBlocked <= 0) continue;
        thread->call = call.number;
        thread->holder = readHolder(thread->thread, &call);
        readStack(stack, call.stack);
        searchFrames(thread, stack, (const void *)call.counter, thread->frame);
        if (!thread->isAnswered) {
            searchTask(thread, stack, running, runningCount);
            searchActor(thread, stack, executors, executorCount);
        }
    }
    free(stack);
    // A late signal must not end the process.
    if (canAsk && former.sa_handler != SIG_DFL) sigaction(SIGPROF, &former, 0);
    free(asked);
    unlockMutex(&lock);
    return count;
}
#endif

#if !(defined(_WIN32) || defined(__wasi__))
// MARK: - Creation of tasks

#include <dlfcn.h>

TaskDumpCreation *(*taskDumpCreationHook)(void);

// The definition has the name of a function of the runtime, and precedes it for all code of the program. It is weak: a
// runtime that is linked statically precedes it.
__attribute__((weak, swiftcall)) TaskDumpNewTask swift_task_create(
    size_t flags, void *options, const void *type, void *function, void *captured) {
    TaskDumpCreation *(*hook)(void) = __atomic_load_n(&taskDumpCreationHook, __ATOMIC_ACQUIRE);
    TaskDumpCreation *creation = hook ? hook() : 0;
    void **frame = __builtin_frame_address(0);
    return (creation ? creation : taskDumpCreate)(flags, options, type, function, captured, frame);
}

TaskDumpNewTask taskDumpCreate(
    size_t flags, void *options, const void *type, void *function, void *captured, void **frame) {
    static __typeof__(swift_task_create) *stored;
    __typeof__(swift_task_create) *original = __atomic_load_n(&stored, __ATOMIC_RELAXED);
    if (!original) {
        original = (__typeof__(swift_task_create) *)dlsym(RTLD_NEXT, "swift_task_create");
        __atomic_store_n(&stored, original, __ATOMIC_RELAXED);
    }
    if (!__atomic_load_n(&isListing, __ATOMIC_ACQUIRE)) return original(flags, options, type, function, captured);
    char *name = copyName(options);
    TaskDumpNewTask new = original(flags, options, type, function, captured);
    list(new.task, name, frame);
    return new;
}

int taskDumpIsStatic(void) {
#ifdef __linux__
    return !taskDumpTakesTasks();
#else
    return 0;
#endif
}

int taskDumpTakesTasks(void) { return dlsym(RTLD_DEFAULT, "swift_task_create") == (void *)swift_task_create; }
#endif
