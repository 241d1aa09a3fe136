/// A construct of a code base that a port replaces, as data: its recognition and its replacement.
public struct Pattern: Sendable {
    /// How much thought a site takes.
    public enum Effort: Int, Sendable, CaseIterable {
        /// None: it may stay as it is.
        case kept = 0
        /// By rote: the recipe's lines take the place of the old ones.
        case rote = 1
        /// The callers change with it.
        case callers = 2
        /// It has to be thought about.
        case thought = 3
        /// The file is wrapped or translated first.
        case translation = 4

        /// The weight of a site in sums: about the hours that it takes, in quarters.
        public var weight: Int {
            switch self {
            case .kept: 0
            case .rote: 1
            case .translation: 2
            case .callers: 3
            case .thought: 8
            }
        }
    }

    /// The step of the guide's section on order in which a pattern goes.
    public enum Step: Int, Sendable, CaseIterable {
        case queues = 2
        case leaves = 3
        case graphs = 4
        case callers = 5
        case state = 6
        case checking = 7
        case bridge = 8

        /// Whether a step waits until everything has moved, in a target at least.
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
        /// A value of a type that is made.
        case made([SystemType], when: [Condition] = [])
        /// A function, a macro or a global variable by its name.
        case function([String], when: [Condition] = [])
        /// A message of Objective-C by the first part of its selector.
        case message([String], when: [Condition] = [])
        /// The name of one of the types in a type position: of a property, a parameter, a result, a generic argument.
        case named([SystemType])
        /// By code that looks at more than one place.
        case analysis
    }

    /// The name in reports, baselines and comments. It does not change.
    public let id: String
    public let family: Family
    /// The name of the construct in the old API.
    public let title: String
    /// The page that tells how to port it, as `Dispatch/concurrentPerform`, nil if there is no recipe.
    public let recipe: String?
    public let effort: Effort
    public let step: Step
    /// The meaning for the port, in a sentence.
    public let meaning: String
    let shapes: [Shape]

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
    /// The page for files that Swift cannot change in place.
    static let objectiveCRecipe = "Dispatch/ObjectiveC"

    /// The pattern in Objective-C: its file is wrapped, or translated first; the pattern's own recipe follows.
    var inObjectiveC: Pattern {
        let isKept = effort == .kept
        return Pattern(
            "objc-\(id)", family, "\(title), in Objective-C", recipe: isKept ? recipe : Self.objectiveCRecipe,
            isKept ? .kept : .translation, step,
            isKept ? meaning : "Wrap the class, or translate the file first. Then: \(meaning)", .analysis)
    }
}

/// A condition on the code around a name.
indirect enum Condition: Sendable {
    /// The arguments contain a word.
    case mentions(String)
    /// An argument has the label.
    case label(String)
    /// The value that the member is of ends with the name, as in `DispatchQueue.main.async`.
    case on(String)
    /// It is called.
    case called
    /// No value and no type precede it, and it is not awaited, as in `sleep(1)`.
    case free
    /// A value is assigned to it.
    case assigned
    /// The number is assigned to it.
    case assignedNumber(String)
    /// The first argument is the number.
    case argument(String)
    /// It is in the body of a loop.
    case inLoop
    /// It is in a closure that a queue executes.
    case inQueueBlock
    /// It is in a body of an `Operation` subclass.
    case inOperation
    /// The name of the value contains the text, in lower case.
    case named(String)
    /// It is given a closure and nothing else.
    case closureOnly
    /// It is given a closure with nothing in it.
    case emptyClosure
    /// No member of it follows.
    case last
    case not(Condition)
}

/// All patterns, in the order in which they are tried.
enum Patterns {
    static let all: [Pattern] =
        operations + advanced + queues + dispatch + groups + semaphores + workItems + sources + threads + locks + timers
        + systems
        + checking + ported

    /// The same, and each as it is reported in Objective-C.
    static let reported = all + all.map(\.inObjectiveC)

    static let byID = Dictionary(uniqueKeysWithValues: reported.map { ($0.id, $0) })
}
