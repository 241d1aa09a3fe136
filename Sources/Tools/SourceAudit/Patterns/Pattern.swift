/// A construct that a port replaces, as data: its recognition and its replacement.
public struct Pattern: Sendable {
    /// The amount of thought that a site needs.
    public enum Effort: Int, Sendable, CaseIterable {
        /// None: the site may stay unchanged.
        case kept = 0
        /// Mechanical: the lines of the recipe replace the old lines.
        case rote = 1
        /// The callers change with it.
        case callers = 2
        /// The change needs thought.
        case thought = 3
        /// The file has to be wrapped or translated first.
        case translation = 4

        /// The estimated time for a declaration, in quarters of an hour.
        public var weight: Int {
            switch self {
            case .kept: 0
            case .rote: 1
            case .callers, .translation: 2
            case .thought: 4
            }
        }
    }

    /// The step of the guide's section on order to which a pattern belongs.
    public enum Step: Int, Sendable, CaseIterable {
        case queues = 2
        case leaves = 3
        case graphs = 4
        case callers = 5
        case state = 6
        case checking = 7
        case bridge = 8

        /// Whether a step waits until everything has moved, at least in its target.
        var isAfterMoves: Bool { self == .checking || self == .bridge }

        public var title: String {
            switch self {
            case .queues: "Swap queues"
            case .leaves: "Move operations, the leaves first"
            case .graphs: "Go up towards the roots"
            case .callers: "Make the callers async"
            case .state: "Take the shared state out"
            case .checking: "Turn strict checking on"
            case .bridge: "Delete the bridge"
            }
        }
    }

    public enum Family: String, Sendable, CaseIterable {
        case operations, queues, dispatch, groups, semaphores, workItems = "work-items", sources, threads, locks
        case timers, systems, checking, ported
    }

    /// How a pattern is recognised.
    enum Shape: Sendable {
        /// A member of one of the types, on a value or on the type itself.
        case member([String], of: [SystemType], when: [Condition] = [])
        /// The creation of a value of one of the types.
        case made([SystemType], when: [Condition] = [])
        /// A function, a macro or a global variable with one of the names.
        case function([String], when: [Condition] = [])
        /// An Objective-C message, by the first part of its selector.
        ///
        /// `toAny` is true if any object or class can have the method. Otherwise, a receiver of another package is not
        /// meant.
        case message([String], toAny: Bool = false, when: [Condition] = [])
        /// The name of one of the types in a type position: of a property, a parameter, a result, a generic argument.
        case named([SystemType])
        /// A search by code that examines several places.
        case analysis
    }

    /// The name in reports, baselines and comments. It does not change.
    public let id: String
    public let family: Family
    /// The name of the construct in the old API.
    public let title: String
    /// The page that explains the port, as `Dispatch/concurrentPerform`; nil without a recipe.
    public let recipe: String?
    public let effort: Effort
    public let step: Step
    /// The consequence for the port, in a sentence.
    public let meaning: String
    let shapes: [Shape]

    /// The estimated time for a declaration with the pattern, in quarters of an hour.
    var weight: Int { Self.subclassWeights[id] ?? effort.weight }

    /// The estimated times for subclasses, whose bodies, callers and tests all change, in quarters of an hour.
    static let subclassWeights = [
        "operation-subclass": 8, "operation-subclass-asynchronous": 20, "operation-state-machine": 20,
        "operation-subclass-derived": 20, "operation-subclass-generic": 20, "queue-subclass": 20,
    ]

    init(
        _ id: String, _ family: Family, _ title: String, recipe: String?, _ effort: Effort, _ step: Step,
        _ meaning: String, _ shapes: Shape...
    ) {
        self.id = id
        self.family = family
        self.title = title
        self.recipe = recipe
        self.effort = effort
        self.step = step
        self.meaning = meaning
        self.shapes = shapes
    }
}

extension Pattern {
    /// The page for files that Swift cannot change in place. Its steps precede those of the pattern's own page.
    static let objectiveCRecipe = "Dispatch/ObjectiveC"

    /// The pattern in Objective-C: the file is wrapped or translated first; then the pattern's own recipe applies.
    var inObjectiveC: Pattern {
        let isKept = effort == .kept
        return Pattern(
            "objc-\(id)", family, "\(title), in Objective-C", recipe: recipe ?? Self.objectiveCRecipe,
            isKept ? .kept : .translation, step,
            isKept
                ? meaning : "Wrap the class, or translate the file first (\(Self.objectiveCRecipe)). Then: \(meaning)",
            .analysis)
    }
}

/// A condition on the code around a name.
indirect enum Condition: Sendable {
    /// The arguments contain a word.
    case mentions(String)
    /// An argument has the label.
    case label(String)
    /// The name follows a namespace of C++, as in `std::mutex`.
    case qualified(String)
    /// The target of a queue is another queue of the code base, not nil and not a global queue.
    case targetsQueue
    /// The expression before the member ends with the name, as in `DispatchQueue.main.async`.
    case on(String)
    /// The member or function is called.
    case called
    /// No value and no type precede the function, and it is not awaited, as in `sleep(1)` and `Darwin.sleep(1)`.
    case free
    /// A value is assigned to the member.
    case assigned
    /// The number is assigned to the member.
    case assignedNumber(String)
    /// The name of the first argument ends with the text, in lower case.
    case argumentNamed(String)
    /// The first argument is the number.
    case argument(String)
    /// The name is in the body of a loop.
    case inLoop
    /// The name is in a closure that a queue executes.
    case inQueueBlock
    /// The name is in a body of an `Operation` subclass.
    case inOperation
    /// The name of the value contains the text, in lower case.
    case named(String)
    /// The only argument is a closure.
    case closureOnly
    /// The argument is an empty closure.
    case emptyClosure
    /// No member access follows.
    case last
    case not(Condition)
}

/// All patterns, in the order in which they are matched.
enum Patterns {
    static let all: [Pattern] =
        operations + advanced + queues + dispatch + groups + semaphores + workItems + sources + threads + locks + timers
        + systems
        + checking + ported

    /// All patterns, each also in its Objective-C form.
    static let reported = all + all.map(\.inObjectiveC)

    static let byID = Dictionary(uniqueKeysWithValues: reported.map { ($0.id, $0) })
}
