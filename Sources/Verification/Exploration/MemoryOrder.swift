internal import Synchronization

/// The parts of an ordering, and its place in the source.
struct MemoryOrder {
    let parts: OrderingParts
    let site: OrderingSite

    init(_ ordering: AtomicLoadOrdering, _ file: StaticString, _ line: UInt) {
        site = OrderingSite(file, line)
        parts =
            switch ordering {
            case .acquiring: .acquire
            case .sequentiallyConsistent: [.acquire, .sequential]
            default: []
            }
    }

    init(_ ordering: AtomicStoreOrdering, _ file: StaticString, _ line: UInt) {
        site = OrderingSite(file, line)
        parts =
            switch ordering {
            case .releasing: .release
            case .sequentiallyConsistent: [.release, .sequential]
            default: []
            }
    }

    init(_ ordering: AtomicUpdateOrdering, _ file: StaticString, _ line: UInt) {
        site = OrderingSite(file, line)
        parts =
            switch ordering {
            case .acquiring: [.atomic, .acquire]
            case .releasing: [.atomic, .release]
            case .acquiringAndReleasing: [.atomic, .acquire, .release]
            case .sequentiallyConsistent: [.atomic, .acquire, .release, .sequential]
            default: .atomic
            }
    }
}

/// The parts of an ordering.
public struct OrderingParts: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let acquire = OrderingParts(rawValue: 1)
    public static let release = OrderingParts(rawValue: 2)
    public static let sequential = OrderingParts(rawValue: 4)
    /// An update reads and stores in one step.
    public static let atomic = OrderingParts(rawValue: 8)

    public var description: String {
        let names: [(OrderingParts, String)] = [
            (.acquire, "acquire"), (.release, "release"), (.sequential, "sequential"),
            (.atomic, "atomic"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: "+")
    }
}

/// The place of an ordering in the source.
public struct OrderingSite: Hashable, Sendable, CustomStringConvertible {
    public let file: String
    public let line: UInt

    public init(file: String, line: UInt) { (self.file, self.line) = (file, line) }

    init(_ file: StaticString, _ line: UInt) {
        self.file = String(describing: file).split(separator: "/").last.map(String.init) ?? ""
        self.line = line
    }

    public var description: String { "\(file):\(line)" }
}

/// An ordering that is explored without one of its parts.
public struct WeakenedOrdering: Hashable, Sendable, CustomStringConvertible {
    let site: OrderingSite
    public let without: OrderingParts

    /// The name of the file that contains the ordering.
    public var file: String { site.file }

    public var description: String { "\(site) without \(without)" }
}
