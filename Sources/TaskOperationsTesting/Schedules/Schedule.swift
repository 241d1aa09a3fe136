/// A difference between a schedule and the usual order.
struct Change: Hashable, Sendable, LosslessStringConvertible {
    enum Kind: Hashable, Sendable {
        /// The next job of the usual order waits until a step, or until no other job is ready.
        case delay(until: Int)
        /// The time moves to the next deadline, and the jobs of the deadline are the next ones.
        case timePasses
        /// A task is cancelled. The tasks have numbers in the order of their creation, from 1, which is the test's.
        case cancellation(task: Int)
        /// The next job is interrupted at a point, and becomes the next job again. Points have numbers from 1.
        case interruption(point: Int)
    }

    /// The number of earlier steps.
    let step: Int
    var kind: Kind

    init(step: Int, _ kind: Kind) {
        self.step = step
        self.kind = kind
    }

    init?(_ text: some StringProtocol) {
        let digits = text.prefix(while: \.isNumber)
        let rest = text[digits.endIndex...]
        guard let step = Self.number(digits) else { return nil }
        self.step = step
        switch (rest.first, rest.dropFirst()) {
        case ("t", ""): kind = .timePasses
        case ("c", let task):
            guard let task = Self.number(task), task > 0 else { return nil }
            kind = .cancellation(task: task)
        case ("p", let point):
            guard let point = Self.number(point), point > 0 else { return nil }
            kind = .interruption(point: point)
        case ("-", ""): kind = .delay(until: .max)
        case ("-", let end):
            guard let end = Self.number(end), end > step else { return nil }
            kind = .delay(until: end)
        default: return nil
        }
    }

    var description: String {
        switch kind {
        case .delay(.max): "\(step)-"
        case .delay(let end): "\(step)-\(end)"
        case .timePasses: "\(step)t"
        case .cancellation(let task): "\(step)c\(task)"
        case .interruption(let point): "\(step)p\(point)"
        }
    }

    var isCancellation: Bool { if case .cancellation = kind { true } else { false } }
    var isInterruption: Bool { if case .interruption = kind { true } else { false } }

    /// The change in a schedule without an interruption, which adds a step.
    func withoutInterruption(at step: Int) -> Self {
        func earlier(_ other: Int) -> Int { other > step && other != .max ? other - 1 : other }
        guard case .delay(let end) = kind else { return Self(step: earlier(self.step), kind) }
        return Self(step: earlier(self.step), .delay(until: max(earlier(end), earlier(self.step) + 1)))
    }

    private static func number(_ text: some StringProtocol) -> Int? {
        text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
    }
}

/// A schedule, as a failure prints it: `1-,4-17`. A number before a slash is the seed of random numbers.
struct Schedule: Hashable, Sendable, LosslessStringConvertible {
    /// The seed of the random numbers that the code requests.
    var seed: UInt64 = 0
    /// The changes, by increasing steps.
    var changes: [Change] = []

    init(seed: UInt64 = 0, _ changes: [Change] = []) {
        self.seed = seed
        self.changes = changes
    }

    init?(_ text: String) {
        let parts = text.split(separator: "/")
        guard let last = parts.last, parts.count <= 2 else { return nil }
        if parts.count == 2 {
            guard let seed = UInt64(parts[0]) else { return nil }
            self.seed = seed
        }
        if last == "usual" { return }
        for item in last.split(separator: ",") {
            guard let change = Change(item) else { return nil }
            changes.append(change)
        }
        if changes.isEmpty || zip(changes, changes.dropFirst()).contains(where: { $0.step > $1.step }) { return nil }
    }

    var description: String {
        let list = changes.map(\.description).joined(separator: ",")
        return (seed == 0 ? "" : "\(seed)/") + (list.isEmpty ? "usual" : list)
    }
}
