import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

// The default isolation of the target is the main actor, as in an app that Xcode 26 creates. The code is written as in
// an app: it uses `nonisolated` and `@concurrent` only where a comment quotes the compiler's message or states the
// effect.

@Suite("An app whose code is isolated to the main actor by default", .inTurns, .endsInTime)
struct DefaultIsolationTests {
    private let model = Model()

    // Without `@MainActor`: "main actor-isolated property 'titles' can not be mutated from a Sendable closure".
    @Test("a body that is marked @MainActor uses the state of the app, and another body runs elsewhere")
    func closures() async throws {
        let queue = TaskOperationQueue(name: "app")
        #expect(try await queue.addOperation { !MainThread.isCurrent }.value)
        let shown = queue.addOperation { @MainActor in
            self.model.titles.append("first")
            return MainThread.isCurrent
        }
        #expect(try await shown.value)
        let input = queue.addOperation { 20 }
        let sum = queue.addOperation(after: input) { $0 + 1 }
        #expect(try await sum.value == 21)
        #expect(model.titles == ["first"])
    }

    // Without `@concurrent` on `compute`, the compiler gives no message, and the work runs on the main actor.
    @Test("a function that is marked @concurrent leaves the main actor, also for a caller that is isolated to it")
    func concurrentFunctions() async throws {
        let background = TaskOperationQueue().addOperation { @MainActor in await Checksum.compute([1, 2, 3]) }
        #expect(try await background.value == 6)
    }

    @Test("a body that is a type runs where its `main` says")
    func bodies() async throws {
        let queue = TaskOperationQueue()
        #expect(try await queue.addOperation(Resize(width: 3)).value == 6)
        #expect(try await queue.addOperation(Show(model: model, title: "second")).value)
        #expect(model.titles == ["second"])
    }

    @Test("scopes and groups take closures that use the state of the main actor")
    func scopes() async throws {
        let total = try await withTaskOperationQueue(maxConcurrentOperationCount: 2) { queue in
            for number in 0..<3 { queue.addOperation { @MainActor in self.model.titles.append("\(number)") } }
            try? await queue.waitUntilAllOperationsAreFinished()
            return model.titles.count
        }
        #expect(total == 3)
        let group = TaskOperationQueue().addGroup { group in
            group.addOperation { @MainActor in self.model.titles.append("group") }
        }
        _ = try await group.value
        #expect(model.titles.last == "group")
    }

    @Test("keyed operations, limits and completion handlers")
    func policies() async throws {
        let queue = TaskOperationQueue()
        let titles = KeyedOperations<Int, String>(queue: queue)
        let request = titles.request(1) { @MainActor in "title \(self.model.titles.count)" }
        #expect(try await request.value == "title 0")
        let limit = AsyncSemaphore(capacity: 1)
        let value = try await limit.withPermit { self.model.titles.count }
        #expect(value == 0)
        let ended = Gate()
        let operation = queue.addOperation { 1 }
        operation.addCompletionHandler { _ in ended.open() }
        await ended.pass()
    }

    @Test("operations of Foundation, and those of the library as such")
    func bridge() async throws {
        let queue = TaskOperationQueue()
        let legacy = BlockOperation {}
        try queue.addOperation(legacy)
        await legacy.finished()
        let subclass = OldDownload()
        try queue.addOperation(subclass)
        await subclass.finished()
        #expect(subclass.isFinished)
        let old = OperationQueue()
        #expect(try await old.run { 1 } == 1)
        let bridged = BridgedOperationQueue()
        bridged.addOperation {}
        await bridged.finished()
    }
}

// MARK: - The app

/// Isolated to the main actor by default.
private final class Model {
    var titles: [String] = []
}

private enum Checksum {
    @concurrent
    static func compute(_ bytes: [Int]) async -> Int {
        #expect(!MainThread.isCurrent)
        return bytes.reduce(0, +)
    }
}

private struct Resize: TaskOperationBody {
    let width: Int

    func main() async throws -> Int {
        #expect(!MainThread.isCurrent)
        return width * 2
    }
}

private struct Show: TaskOperationBody {
    let model: Model
    let title: String

    // Without `@MainActor`: "main actor-isolated property 'titles' can not be mutated from a nonisolated context". A type
    // that conforms to a Sendable protocol has no default isolation.
    @MainActor
    func main() async throws -> Bool {
        model.titles.append(title)
        return MainThread.isCurrent
    }
}

// Without `nonisolated`: "main actor-isolated instance method 'main()' has different actor isolation from nonisolated
// overridden declaration".
nonisolated private final class OldDownload: Foundation.Operation, @unchecked Sendable {
    override func main() {}
}
