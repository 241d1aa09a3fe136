// What a task dump reads of the runtime and of the system. All of it is in CTaskDump.c.

#pragma once

#include <stddef.h>
#include <stdint.h>

enum { taskDumpCallerCount = 8, taskDumpFrameCount = 48, taskDumpNameSize = 128, taskDumpStartCount = 8 };

// MARK: The list of living tasks

/// Begins to list the tasks that are created from now on. Each call also lists the calling task.
///
/// Returns 1 if tasks are listed; 0 if the layout of the runtime is not a known one.
int taskDumpBegin(void);

/// A listed task.
typedef struct {
    const void *_Nullable task;
    /// The number that the runtime gave to the task.
    uint64_t number;
    /// The return addresses of the functions that created the task, innermost first, up to a null.
    const void *_Nullable callers[taskDumpCallerCount];
    /// The time at which the latest sleep of the task ends, in nanoseconds of the monotonic clock; 0 if the task has not
    /// slept.
    int64_t wakeTime;
    /// The name; null if the task has none. A longer name is cut.
    char *_Nullable name;
    /// Whether the entry is from the list of the runtime.
    int isOfRuntime;
} TaskDumpBirth;

/// Copies at most `capacity` listed tasks. Returns the number of listed tasks, which can be larger.
///
/// With Swift 6.5, the tasks of the runtime's list follow, also those that were created before. They have no callers.
size_t taskDumpList(TaskDumpBirth *_Nullable births, size_t capacity);

/// Whether a task that was listed is still listed, so that its memory was that of the task until now. The list of Swift 6.5
/// is not searched.
int taskDumpIsListed(const void *_Nonnull task, uint64_t number);

/// Whether a task has not ended. The memory of a task that was freed can look like the task, unless tasks are listed.
int taskDumpIsLiving(const void *_Nonnull task, uint64_t number);

/// Frees the names of copied tasks.
void taskDumpFreeNames(TaskDumpBirth *_Nullable births, size_t count);

/// The number of the calling task; 0 outside of tasks, or if tasks are not listed.
uint64_t taskDumpCurrentTask(void);

/// Notes that the calling task begins to sleep, for a number of nanoseconds.
void taskDumpNoteSleep(int64_t delay);

/// The nanoseconds of the monotonic clock, also during an exploration of schedules.
int64_t taskDumpNow(void);

// MARK: One task

/// The states of a task that a dump distinguishes.
typedef enum __attribute__((enum_extensibility(closed))) {
    TaskDumpSuspended,
    /// The task is in the queue of an executor.
    TaskDumpEnqueued,
    TaskDumpRunning,
    /// The task changed while it was read: it runs, or it did a moment ago.
    TaskDumpChanging,
} TaskDumpStatus;

/// The things that a suspended task can wait for.
typedef enum __attribute__((enum_extensibility(closed))) {
    TaskDumpNothing,
    TaskDumpTask,
    TaskDumpContinuation,
    TaskDumpGroup,
    /// The executor of an actor; the object is the actor. The shared pool, if the object is null.
    TaskDumpExecutor,
} TaskDumpWait;

/// A living task. Addresses are only compared, or read through `taskDumpCopy`.
typedef struct {
    const void *_Nullable task;
    uint64_t number;
    TaskDumpStatus status;
    /// The priority, including escalation.
    uint8_t priority;
    uint8_t isCancelled;
    /// The object that the task waits for.
    TaskDumpWait wait;
    const void *_Nullable object;
    /// The second word of the reference to an executor; otherwise 0.
    uintptr_t implementation;
    /// The number of the task that the task waits for; otherwise 0. Another task can have the same address later.
    uint64_t objectNumber;
    /// The type of the actor that the task waits for; null for a custom executor that is no actor.
    const void *_Nullable objectType;
    /// The task that has this one as a child; null if it is no child.
    const void *_Nullable parent;
    uint64_t parentNumber;
    /// The group of which the task is a child; null if it is no child of a group.
    const void *_Nullable group;
    /// The functions with which the task and its callers continue, innermost first, up to a null, and their contexts.
    const void *_Nullable functions[taskDumpFrameCount];
    const void *_Nullable contexts[taskDumpFrameCount];
    /// Of a task that has not begun: functions of its closure and thunks, up to a null.
    const void *_Nullable starts[taskDumpStartCount];
} TaskDumpState;

/// A child of a task.
typedef struct {
    const void *_Nullable task;
    uint64_t number;
} TaskDumpChild;

/// Reads a task that may end at any moment. Returns 0 if it has ended, or if the address is not a task.
///
/// - `number` is the number of the expected task; 0 for any.
/// - `children` receives the children that are no children of a group (those of `async let`).
int taskDumpRead(
    const void *_Nonnull task, uint64_t number, TaskDumpState *_Nonnull state, TaskDumpChild *_Nonnull children,
    size_t *_Nonnull childCount, size_t childCapacity);

/// Copies memory that may be gone, as a debugger does. Returns 0 if not all of it is there.
int taskDumpCopy(const void *_Nonnull address, void *_Nonnull bytes, size_t count);

// MARK: Progress

/// Counts jobs of the pool and of the main actor from now on.
void taskDumpBeginProgress(void);

/// Does not count jobs that the calling thread creates.
void taskDumpIgnoreThread(void);

/// A number that differs from the former one if there was a job meanwhile, or a task began to sleep.
uint64_t taskDumpProgress(void);

// MARK: Threads

enum { taskDumpStackSize = 64 };

/// A thread of the process, other than the calling one.
typedef struct {
    int thread;
    /// Whether the thread is in a system call, or otherwise without a processor.
    uint8_t isBlocked;
    /// Whether the thread was interrupted, and told its task.
    uint8_t isAnswered;
    /// The number of the system call; -1 if the thread is in none.
    int64_t call;
    /// The thread that has the lock for which the thread waits; 0 if it is not known.
    int holder;
    const void *_Nullable task;
    /// The actor whose code the thread runs; null if it is none.
    const void *_Nullable actor;
    /// The addresses of the stack, innermost first, up to a null.
    const void *_Nullable frames[taskDumpStackSize];
    /// The frame pointer of an interrupted thread; otherwise 0.
    uintptr_t frame;
} TaskDumpThread;

/// An executor, as the runtime refers to it.
typedef struct {
    const void *_Nullable object;
    uintptr_t implementation;
} TaskDumpExecutorReference;

/// Reads at most `capacity` threads. Returns their number.
///
/// A thread that computes, or waits for a lock without a limit of time, is interrupted for a moment by SIGPROF. A thread
/// in another call is not, because the interruption could end a sleep or a read early. For such a thread, `running` (the tasks that run), `executors`
/// (those that tasks wait for) and the memory of the stack tell its task and its actor.
size_t taskDumpThreads(
    TaskDumpThread *_Nonnull threads, size_t capacity, const void *_Nullable const *_Nonnull running, size_t runningCount,
    const TaskDumpExecutorReference *_Nonnull executors, size_t executorCount);

/// The executor of the main actor, which identifies it; null if it is not known.
const void *_Nullable taskDumpMainExecutor(void);

/// The actor whose code the calling thread runs; null if it is none.
const void *_Nullable taskDumpCurrentActor(void);

/// The number of the process, which is that of its main thread.
int taskDumpProcess(void);

/// The number of processors, which is that of the threads of the pool.
int taskDumpProcessorCount(void);

/// The name of a system call that blocks; null if it is not known.
const char *_Nullable taskDumpCallName(int64_t call);

// MARK: Lines

/// An address of code, and its place in the source.
typedef struct {
    uintptr_t address;
    /// 0 if there is no line.
    uint32_t line;
    /// The name of the file, without folders. A longer name is cut.
    char file[120];
} TaskDumpLine;

/// Finds the files and lines of addresses in the debug information of the program and its libraries.
///
/// Takes linear time in the size of the line tables; 0.1 s for a program of 150 MB.
void taskDumpFindLines(TaskDumpLine *_Nonnull lines, size_t count);

// MARK: Creation of tasks

/// A new task, as the runtime returns it.
typedef struct {
    void *_Nullable task;
    void *_Nullable context;
} TaskDumpNewTask;

/// A function that creates a task in place of the runtime's one. It calls `taskDumpCreate`.
typedef TaskDumpNewTask TaskDumpCreation(
    size_t flags, void *_Nullable options, const void *_Nullable type, void *_Nullable function, void *_Nullable captured,
    void *_Nullable *_Nonnull frame);

/// Called for each new task on threads that explore schedules. Returns null for other threads.
extern TaskDumpCreation *_Nullable (*_Nullable taskDumpCreationHook)(void);

/// Calls the runtime's function, and lists the task.
TaskDumpNewTask taskDumpCreate(
    size_t flags, void *_Nullable options, const void *_Nullable type, void *_Nullable function, void *_Nullable captured,
    void *_Nullable *_Nonnull frame);

/// Whether the thread has a lock of this module, or is about to take it. An exploration of schedules overlooks them.
int taskDumpHasLock(void);

/// Stores the return addresses of a chain of frame pointers, innermost first, up to a null, without the first ones.
void taskDumpReadCallers(
    void *_Nullable *_Nullable frame, int skipped, const void *_Nullable callers[_Nonnull taskDumpCallerCount]);

/// Whether new tasks lead to this module. False if the runtime is linked statically.
int taskDumpTakesTasks(void);

/// Whether the program contains the runtime, so that this module does not learn of new tasks.
int taskDumpIsStatic(void);

// MARK: Programs

/// The signals that programs use for dumps.
typedef enum __attribute__((enum_extensibility(closed))) { TaskDumpQuit, TaskDumpUser1, TaskDumpUser2 } TaskDumpSignal;

/// The number of a signal on this system; 0 if there is none.
int taskDumpSignal(TaskDumpSignal signal);

/// Calls a function on a thread of its own after the arrival of a signal. Signals that arrive during a call cause one more.
/// Returns 0 if that is not possible.
int taskDumpOnSignal(int signal, void (*_Nonnull function)(void));

/// Writes text to standard error. Ignores errors.
void taskDumpPrint(const char *_Nonnull text, size_t count);

/// Calls a function on a new thread. Returns 0 if there can be no thread.
int taskDumpStartThread(void (*_Nonnull function)(void *_Nullable), void *_Nullable argument);

/// Blocks the calling thread, in real time.
void taskDumpSleep(int64_t nanoseconds);
