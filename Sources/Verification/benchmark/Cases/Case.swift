/// One comparison: work that each subject performs in its own way.
struct Case: Sendable {
    let name: String
    /// The difference between cases of the same name; nil if the name is unique.
    let variant: String?
    /// A description of an operation, in one line.
    let summary: String
    /// The numbers of operations; several sizes if the growth of the cost matters.
    let sizes: [Int]
    /// Whether a round takes so long that the case is measured only on request.
    let isLong: Bool
    let subjects: [Subject]

    init(
        _ name: String, variant: String? = nil, _ summary: String, sizes: [Int], isLong: Bool = false,
        subjects: [Subject]
    ) {
        self.name = name
        self.variant = variant
        self.summary = summary
        self.sizes = sizes
        self.isLong = isLong
        self.subjects = subjects
    }

    var title: String { variant.map { "\(name), \($0)" } ?? name }
}

/// An implementation that performs a case.
struct Subject: Sendable {
    let name: SubjectName
    /// The maximum size that is measured. A larger size would take minutes.
    let largestSize: Int
    /// The maximum number of rounds. More rounds would take minutes.
    let mostRounds: Int
    /// Performs the work once, with the given number of operations.
    let measure: @Sendable (_ operations: Int) async throws -> Measurement

    init(
        _ name: SubjectName, largestSize: Int = .max, mostRounds: Int = .max,
        measure: @escaping @Sendable (_ operations: Int) async throws -> Measurement
    ) {
        self.name = name
        self.largestSize = largestSize
        self.mostRounds = mostRounds
        self.measure = measure
    }
}

/// The error of a subject that cannot be measured on this machine, because something that it needs is not installed.
struct SubjectUnavailable: Error {
    /// A description in one line.
    let reason: String
}

enum SubjectName: String, CaseIterable, Sendable {
    case taskOperationQueue = "TaskOperationQueue"
    /// A queue that exists for a scope.
    case scopedQueue = "withTaskOperationQueue"
    /// A queue with an observer that does nothing.
    case observed = "observed"
    /// A queue with a `TraceRecorder`.
    case recorded = "FlightRecorder"
    case asyncSemaphore = "AsyncSemaphore"
    case bridgedOperationQueue = "BridgedOperationQueue"
    case keyedOperations = "KeyedOperations"
    /// The `concurrentPerform` of TaskOperationsExtras.
    case concurrentPerform
    case operationQueue = "OperationQueue"
    /// A concurrent queue with a group, a serial queue if the case is serial, or `concurrentPerform` if it forks.
    case dispatchQueue = "DispatchQueue"
    /// A child task for each operation, all started at once.
    case taskGroup = "TaskGroup"
    /// A child task for each operation. `next()` limits their number to the width.
    case taskGroupNext = "TaskGroup-next"
    /// A child task for each operation, which waits for a permit of an `AsyncSemaphore`.
    case taskGroupSemaphore = "TaskGroup-semaphore"
    /// An unstructured task for each operation, which awaits the handles of its predecessors.
    case task = "Task"
    /// An actor with a dictionary of tasks.
    case actorOfTasks = "actor-of-tasks"
    /// An `AsyncSemaphore` that is acquired before each `Task {}`.
    case semaphoreAroundTask = "semaphore-around-Task"
    /// An `AsyncSemaphore` that bodies acquire.
    case semaphoreInBody = "semaphore-in-body"
    // Queues whose operations use one option each.
    case named = "name"
    case prioritised = "priority"
    case weighted = "weight"
    case limited = "limited"
    case dependent = "dependencies"
    case startingWithin = "starting-within"
    case endingWithin = "ending-within"
    case bodyTimeout = "timeout"
    case attemptTimeout = "attemptTimeout"
    case abandonable = "timeout-abandon"
    case retried = "retry"
    case allOptions = "all-options"
    case lendingWhenNeeded = "whenNeeded"
    case lendingAlways = "always"
    case lendingNever = "never"
    // Libraries for C++.
    case taskflow = "Taskflow"
    case tbb = "oneTBB"
    /// The audit of a code base.
    case audit
    /// The lower bound, by arithmetic.
    case ideal

    var isOurs: Bool {
        switch self {
        case .taskOperationQueue, .scopedQueue, .observed, .recorded, .asyncSemaphore, .bridgedOperationQueue,
            .keyedOperations, .concurrentPerform, .audit:
            true
        default: false
        }
    }
}
