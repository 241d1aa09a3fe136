import Foundation
import Testing

@testable import SourceAudit

/// The sources of the recipes are a code base whose right answers are known: Migration.md says which is which.
@Suite("The audit of the recipes' own sources")
struct LegacyExamplesTests {
    /// What no source shows: which operation is meant as the end of a graph, or as a condition; whether a callback may
    /// block; whether the list of a thread that takes work from one is paused and emptied.
    static let invisible: Set = [
        "the-last-operation-of-a-graph", "conditions-of-an-operation", "user-callbacks-that-may-block",
        "a-list-of-blocks-for-one-thread",
    ]

    @Test("Every recipe's pattern is found in its old source, and leads to its recipe")
    func everyRecipeIsFound() throws {
        let findings = try Example.findings(in: "Legacy")
        for recipe in try Guide().recipes where !Self.invisible.contains(recipe.anchor) {
            let anchors = Set(findings.filter { recipe.legacyFiles.contains($0.path) }.compactMap(\.pattern.recipe))
            #expect(anchors.contains(recipe.anchor), "\(recipe.anchor) is not among \(anchors.sorted())")
        }
    }

    @Test("In the ports there is nothing but what is meant to stay")
    func portsAreClean() throws {
        // What stays, and why.
        let meant: [String: Set<String>] = [
            // A delegate that Foundation calls on a queue of its own guards its table by a lock.
            "ImageDownloaderSession.swift": ["lock-made", "lock-used"],
            // The other end of the pipe, which is no part of the recipe.
            "DescriptorSource.swift": ["thread-detach"],
            // The callback itself is old code that blocks, which is what the recipe is about.
            "BlockingCallbacks.swift": [
                "dispatch-global", "semaphore-signal", "semaphore-wait", "semaphore-signalled",
            ],
            // It shows that all work was on one thread.
            "PerformOnThread.swift": ["thread-current"],
        ]
        for finding in try Example.findings(in: "Ported") {
            let name = (finding.path as NSString).lastPathComponent
            #expect(
                meant[name]?.contains(finding.pattern.id) ?? false,
                "\(name):\(finding.line) \(finding.pattern.id): \(finding.source)")
        }
    }
}

@Suite("Patterns and the guide")
struct GuideTests {
    @Test("Every pattern's recipe is a heading of Migration.md")
    func recipesExist() throws {
        let anchors = try Guide().anchors
        for pattern in Patterns.all {
            if let recipe = pattern.recipe { #expect(anchors.contains(recipe), "\(pattern.id): no #\(recipe)") }
        }
    }

    @Test("Every recipe of Migration.md is reached by a pattern")
    func recipesAreReached() throws {
        let reached = Set(Patterns.all.compactMap(\.recipe))
        for recipe in try Guide().recipes where !LegacyExamplesTests.invisible.contains(recipe.anchor) {
            #expect(reached.contains(recipe.anchor), "nothing leads to #\(recipe.anchor)")
        }
    }

    @Test("Names of patterns are unique, in lower case, and say their family's step")
    func names() {
        #expect(Patterns.byID.count == Patterns.all.count)
        for pattern in Patterns.all {
            #expect(pattern.id.allSatisfy { $0.isLowercase || $0 == "-" || $0.isNumber }, "\(pattern.id)")
            #expect(!pattern.meaning.isEmpty && pattern.meaning.hasSuffix("."), "\(pattern.id)")
        }
    }
}
