import Foundation

/// The oldest system versions on which a file's code has to run.
struct Platforms {
    struct Version: Comparable, CustomStringConvertible {
        let major: Int
        let minor: Int

        /// The version of a system that a file does not state, or computes.
        static let unknown = Version(0)

        init(_ major: Int, _ minor: Int = 0) { (self.major, self.minor) = (major, minor) }

        /// Reads `v10_15`, `16.4` or `9`; nil without a number.
        init?(_ text: some StringProtocol) {
            let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
            guard let major = numbers.first else { return nil }
            self.init(major, numbers.dropFirst().first ?? 0)
        }

        var description: String { "\(major).\(minor)" }

        static func < (a: Version, b: Version) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
    }

    /// A lock that a rewrite can use.
    enum LockType {
        case mutex, unfairLock

        var name: String { self == .mutex ? "Mutex" : "OSAllocatedUnfairLock" }

        var module: String { self == .mutex ? "Synchronization" : "os" }

        /// The first version of a system that has the lock; nil for an unknown system.
        func floor(_ system: String) -> Version? {
            switch system {
            case "macOS": Version(self == .mutex ? 15 : 13)
            case "iOS", "tvOS", "macCatalyst": Version(self == .mutex ? 18 : 16)
            case "watchOS": Version(self == .mutex ? 11 : 9)
            case "visionOS": Version(self == .mutex ? 2 : 1)
            default: nil
            }
        }
    }

    /// A version and the file that states it.
    private struct Statement {
        let system: String
        let version: Version
        let source: String
    }

    private var statements: [Statement] = []

    mutating func state(_ system: String, _ version: Version, in source: String) {
        statements.append(Statement(system: system, version: version, source: source))
    }

    /// The systems that the statements name.
    var systems: Set<String> { Set(statements.map(\.system)) }

    mutating func merge(_ other: Platforms) { statements += other.statements }

    mutating func remove(_ system: String) { statements.removeAll { $0.system == system } }

    mutating func removeStatements(of manifest: Manifest) { statements.removeAll { $0.source == manifest.name } }

    /// The reason why a lock is not available everywhere; nil if it is.
    func obstacle(to lock: LockType) -> String? {
        let tooOld = statements.first { statement in
            lock.floor(statement.system).map { statement.version < $0 } ?? false
        }
        return tooOld.map { statement in
            statement.version == .unknown
                ? "\(statement.source) states no version of \(statement.system), which may have no \(lock.name)"
                : "\(statement.source) allows \(statement.system) \(statement.version), which has no \(lock.name)"
        }
    }
}

extension Platforms {
    /// The versions that the podspecs of a folder state. A podspec whose versions cannot be read allows every version.
    static func ofPodspecs(in folder: String) -> Platforms {
        var platforms = Platforms()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasSuffix(".podspec") || name.hasSuffix(".podspec.json") {
            let text = (try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)) ?? ""
            var isRead = false
            let names = [
                "ios": "iOS", "osx": "macOS", "macos": "macOS", "tvos": "tvOS", "watchos": "watchOS",
                "visionos": "visionOS",
            ]
            // `s.ios.deployment_target = '9.0'`, `s.platform = :ios, '9.0'`, `{ ios: '9.0' }`, `{ "ios": "9.0" }`
            let form =
                #/\b(ios|osx|macos|tvos|watchos|visionos)\b(?:\.deployment_target\s*=|["']?\s*(?:,|=>|:))\s*["'](\d[\d.]*)["']/#
                .wordBoundaryKind(.simple)
            for match in text.matches(of: form) {
                guard let version = Version(match.2), let system = names[String(match.1)] else { continue }
                platforms.state(system, version, in: name)
                isRead = true
            }
            if !isRead { platforms.state("iOS", .unknown, in: name) }
        }
        return platforms
    }
}
