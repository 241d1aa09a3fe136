// The points of the runtime at which an exploration of schedules takes part. All of them are in CSchedules.c.

#pragma once

#include <stddef.h>
#include <stdint.h>

/// A reference to an executor, as the runtime passes it.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    const void *_Nullable identity;
    uintptr_t implementation;
} SchedulesExecutor;

/// A change of a task's executor that an exploration has put off.
typedef struct __attribute__((swift_attr("@Sendable"))) {
    /// The function with which the task continues; null if the task begins.
    const void *_Nullable resume;
    SchedulesExecutor target;
} SchedulesSwitch;

/// The exploration that a thread runs. Only this thread accesses it, or the worker to which it has handed the turn.
typedef struct SchedulesThread {
    /// The executor of every task that is created on the thread.
    SchedulesExecutor taskExecutor;
    /// The executor that replaces the main actor's.
    SchedulesExecutor mainExecutor;
    /// The object that runs the jobs.
    const void *_Nullable run;
    /// The object that collects the failures of the test; null if there is none. It is never used, only compared.
    const void *_Nullable collector;
    /// Takes a job of a task without an executor. The job follows after `delay` nanoseconds. Returns 0 if the job is
    /// foreign.
    int (*_Nullable enqueue)(void *_Nonnull job, int64_t delay);
    /// The executor that receives the tasks that are about to enter an actor.
    SchedulesExecutor pausedExecutor;
    /// The change for which a task is being paused.
    SchedulesSwitch pausing;
    /// The change that the next task performs.
    SchedulesSwitch resuming;
    /// Called before the calling task changes its executor; null if nothing traces the run.
    ///
    /// - `resume` is the function with which the task continues.
    /// - `actor` is null if the task leaves an actor.
    void (*_Nullable switching)(uint64_t task, const void *_Nonnull resume, const void *_Nullable actor);
    /// The number of the task that is changing its executor; 0 if no task is.
    uint64_t switchingTask;
    /// Called for each new task.
    ///
    /// - `object` is null if the task is a child.
    /// - `name` is null if the task has no name.
    /// - `callers` are the return addresses of the functions that create the task, innermost first, up to a null.
    void (*_Nullable created)(
        uint64_t task, const void *_Nullable object, const char *_Nullable name, const void *_Nullable const *_Nonnull callers);
    /// The seed of the random numbers that the code requests.
    uint64_t seed;
    /// Whether the code requested random numbers.
    int usesSeed;
    /// The virtual time that has passed, in nanoseconds.
    int64_t elapsed;
    /// The time at which the virtual time began, by number of the clock.
    int64_t origins[8];
    /// The number of times that the code read a clock.
    int64_t clockReads;
    /// The number of threads and blocks of Dispatch that the code has begun.
    int64_t foreignWork;
    /// The number of jobs that have begun.
    int64_t jobs;
    /// The number of the job that ends the process; 0 if none does. The run ends before it.
    int64_t fatalJob;
    /// The number of the schedule, from 1.
    int64_t number;
    /// The only schedule; null if there are several.
    char *_Nullable only;
    /// Whether schedules run in copies of the process; -1 if they cannot.
    int forks;
    /// The name of the test; empty if it is not known. A longer name is cut.
    char test[200];
    /// The memory for signals of the thread; null if the thread had such memory.
    void *_Nullable signalStack;
    /// Performs a job on a worker.
    void (*_Nullable perform)(const void *_Nonnull job);
    /// The number of points that the running job has passed at which it can be interrupted, and the one at which it is; 0
    /// if it is not.
    int64_t points, interruption;
    /// The return addresses of the functions at the last interruption, innermost first, up to a null.
    const void *_Nullable callers[8];
    /// All workers, and those without a job.
    struct SchedulesWorker *_Nullable workers, *_Nullable idleWorkers;
    /// The number of jobs that have begun and wait.
    int64_t startedJobs;
    /// The address of the lock that the last blocked job waits for; null if none does.
    const void *_Nullable wantedLock;
    /// The number of times that jobs have unlocked anything.
    int64_t unlocks;
} SchedulesThread;

/// A thread that runs a job which can be interrupted. While it runs, the exploring thread waits.
typedef struct SchedulesWorker SchedulesWorker;

/// The reason why a worker gives back its turn.
typedef enum __attribute__((enum_extensibility(closed))) {
    SchedulesPauseEnded,
    SchedulesPauseInterrupted,
    /// The job waits for a lock that an interrupted job may have.
    SchedulesPauseBlocked,
    /// The job has unlocked what the last blocked job waits for.
    SchedulesPauseUnlocked
} SchedulesPause;

/// Lets a worker run until it gives back its turn.
///
/// - `worker` is null for a job that begins.
/// - `job` is passed to `perform`; it is not used for a job that continues.
/// - `pause` receives the reason. Unless the job has ended, it continues with the returned worker.
///   Null is returned if the system cannot begin a thread. The job has not begun then.
SchedulesWorker *_Nullable schedulesContinue(
    SchedulesThread *_Nonnull thread, SchedulesWorker *_Nullable worker, const void *_Nullable job,
    SchedulesPause *_Nonnull pause);

/// A point at which a job can be interrupted.
void schedulesPoint(void);

/// Prepares an exploration on the calling thread: installs the hooks of the runtime, and sets the origins of the clocks.
///
/// If a signal ends the process during a schedule, a line on standard error names the test and the schedule.
void schedulesPrepare(SchedulesThread *_Nonnull thread, const char *_Nullable test, const char *_Nullable only);

/// The end of a copy of the process.
typedef struct {
    /// The name of the signal; null if none has ended the copy.
    const char *_Nullable signal;
    /// The number of jobs that had begun; 0 if it is not known, and -1 if the copy has not ended in time.
    int64_t jobs;
} SchedulesCrash;

/// Copies the process, which then waits for the copy. Returns 1 in the copy, and 0 in the process. Other systems than
/// Linux with glibc copy nothing, and find no crash.
///
/// The copy has only the calling thread. It ends without a signal where it needs another one.
///
/// - `limit` is the real time, in nanoseconds, after which the copy is ended. A copy that waits is ended after a second.
/// - `output` receives the last bytes that the copy has printed, and a null.
int schedulesFork(
    SchedulesThread *_Nonnull thread, int64_t limit, char *_Nonnull output, size_t size, SchedulesCrash *_Nonnull crash);

/// Ends the copy of the process that calls it.
void schedulesEndCopy(void);

/// Ends the exploration of the calling thread.
void schedulesEnd(SchedulesThread *_Nonnull thread);

/// Begins a run of an exploration on the calling thread; null ends the run.
void schedulesEnter(SchedulesThread *_Nullable thread);

/// The exploration of the calling thread; null on other threads.
SchedulesThread *_Nullable schedulesCurrent(void);

/// The number that the runtime gave to the task of a job; 0 if the job is not a task.
uint64_t schedulesTaskNumber(const void *_Nonnull job);

/// The actor that a job runs; null if the job is a task.
const void *_Nullable schedulesActor(const void *_Nonnull job);

/// The function with which the task of a job continues; null if the job is not a task.
const void *_Nullable schedulesFunction(const void *_Nonnull job);

/// The number of the calling task; 0 outside a task.
uint64_t schedulesCurrentTask(void);

/// Cancels a task. The object is one that `created` received and retained.
void schedulesCancel(const void *_Nonnull object);

/// Makes a job ready on an executor.
void schedulesEnqueue(const void *_Nonnull job, SchedulesExecutor executor);

/// Whether new tasks, and only the main actor's executor, lead to this module. False if the runtime has no hooks.
int schedulesTakesTasks(void);

/// Whether the clocks of the system lead to this module.
int schedulesTakesClocks(void);

/// The value of an environment variable; null if it is not set.
const char *_Nullable schedulesEnvironment(const char *_Nonnull name);

/// Lets the calling thread end one `withoutActuallyEscaping` whose closure a task still holds. The task never runs
/// again.
void schedulesAllowEscape(void);

/// Finds the highest of the numbers at up to 64 places, and the first one of equal numbers. Returns -1 if no place counts.
///
/// - `first` is the address of the first place.
/// - `stride` is the number of bytes from a place to the next one.
/// - `places` are the places that count, as bits.
int schedulesFindHighest(const void *_Nonnull first, size_t stride, uint64_t places);

/// Blocks the calling thread.
void schedulesSleep(int64_t nanoseconds);
