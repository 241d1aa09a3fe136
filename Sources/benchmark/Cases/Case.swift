/// One comparison: work that each subject does in its own way.
struct Case: Sendable {
    let name: String
    /// Tells cases of one name apart.
    let variant: String?
    /// A description of an operation, in a line.
    let summary: String
    /// The numbers of operations; several sizes if the growth of the cost matters.
    let sizes: [Int]
    /// Whether one round of it takes so long that it is measured on demand only.
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
    /// Above this it would take minutes: it is left out there.
    let largestSize: Int
    /// So slow that more rounds than these would take minutes.
    let mostRounds: Int
    /// Does the work once, with so many operations.
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

enum SubjectName: String, CaseIterable, Sendable {
    case taskOperationQueue = "TaskOperationQueue"
    /// A queue that lives for a scope.
    case scopedQueue = "withTaskOperationQueue"
    /// With an observer that does nothing.
    case observed = "observed"
    /// With a `TraceRecorder`.
    case traced = "TraceRecorder"
    case asyncSemaphore = "AsyncSemaphore"
    case bridgedOperationQueue = "BridgedOperationQueue"
    case keyedOperations = "KeyedOperations"
    case operationQueue = "OperationQueue"
    /// Concurrent, with a group; serial where the case is serial.
    case dispatchQueue = "DispatchQueue"
    /// A child task for each operation, all at once.
    case taskGroup = "TaskGroup"
    /// A child task for each operation, kept to the width by `next()`.
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
    // One option each.
    case named = "name"
    case prioritised = "priority"
    case weighted = "weight"
    case limited = "limited"
    case dependent = "dependencies"
    case startingWithin = "starting-within"
    case endingWithin = "ending-within"
    case timeLimited = "timeLimit"
    case attemptTimeLimited = "attemptTimeLimit"
    case abandonable = "timeLimit-abandon"
    case retried = "retry"
    case allOptions = "all-options"
    case lendingWhenNeeded = "whenNeeded"
    case lendingAlways = "always"
    case lendingNever = "never"
    /// The audit of a code base.
    case audit
    /// The arithmetic limit.
    case ideal

    var isOurs: Bool {
        switch self {
        case .taskOperationQueue, .scopedQueue, .observed, .traced, .asyncSemaphore, .bridgedOperationQueue,
            .keyedOperations, .audit:
            true
        default: false
        }
    }
}
