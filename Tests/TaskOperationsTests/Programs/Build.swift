import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

/// Builds targets that find their dependencies while they are built. Each target is built once, at most four at a time.
/// Targets that await others lend their permits.
private struct Builder {
    let compile: @Sendable (_ target: String, _ dependencies: [String]) async throws -> String
    let dependencies: @Sendable (_ target: String) async throws -> [String]
    let builds = KeyedOperations<String, String>(
        queue: TaskOperationQueue(.init(name: "build", maxConcurrentOperationCount: 4)),
        keeping: .values(maxCount: .max))

    func build(_ target: String) async throws -> String {
        try await builds.value(for: target, name: target) {
            let names = try await dependencies(target)
            return try await compile(target, names.concurrentMap { try await build($0) })
        }
    }
}

/// The same program with an actor. Only compilers count towards the width, and a cycle of targets never ends.
private actor PlainBuilder {
    let compile: @Sendable (_ target: String, _ dependencies: [String]) async throws -> String
    let dependencies: @Sendable (_ target: String) async throws -> [String]
    private var builds: [String: Task<String, any Error>] = [:]
    private var freeCount = 4
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(
        compile: @escaping @Sendable (String, [String]) async throws -> String,
        dependencies: @escaping @Sendable (String) async throws -> [String]
    ) {
        self.compile = compile
        self.dependencies = dependencies
    }

    func build(_ target: String) async throws -> String {
        let build = builds[target] ?? Task { try await self.perform(target) }
        builds[target] = build
        return try await withTaskCancellationHandler {
            try await build.value
        } onCancel: {
            // Cancels the build for all tasks that await it.
            build.cancel()
        }
    }

    private func perform(_ target: String) async throws -> String {
        let names = try await dependencies(target)
        let products = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for (index, name) in names.enumerated() {
                group.addTask { (index, try await self.build(name)) }
            }
            var products = names
            for try await (index, product) in group { products[index] = product }
            return products
        }
        if freeCount > 0 {
            freeCount -= 1
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
        defer { if waiters.isEmpty { freeCount += 1 } else { waiters.removeFirst().resume() } }
        return try await compile(target, products)
    }
}

@Suite("Program: a build with dependencies that are found while it runs", .endsInTime)
struct BuildTests {
    private let graph = [
        "app": ["ui", "net"], "ui": ["core", "net"], "net": ["core"], "core": [], "a": ["b"], "b": ["a"],
    ]

    @Test("both build each target once, after those that it needs")
    func build() async throws {
        let built = Lock<[String]>([])
        let compile = { @Sendable (target: String, products: [String]) async throws -> String in
            built.withLock { $0.append(target) }
            return "\(target)(\(products.joined(separator: " ")))"
        }
        let dependencies = { @Sendable [graph] (target: String) async throws -> [String] in graph[target]! }
        let app = "app(ui(core() net(core())) net(core()))"
        #expect(try await Builder(compile: compile, dependencies: dependencies).build("app") == app)
        #expect(built.withLock { $0.sorted() } == ["app", "core", "net", "ui"])
        built.withLock { $0 = [] }
        #expect(try await PlainBuilder(compile: compile, dependencies: dependencies).build("app") == app)
        #expect(built.withLock { $0.sorted() } == ["app", "core", "net", "ui"])
    }

    @Test("a cycle of targets is refused by name")
    func cycle() async throws {
        let dependencies = { @Sendable [graph] (target: String) async throws -> [String] in graph[target]! }
        let builder = Builder(compile: { target, _ in target }, dependencies: dependencies)
        let error = await #expect(throws: TaskOperationError.self) { try await builder.build("a") }
        guard case .waitCycle(let labels) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(Set(labels.compactMap(\.name)) == ["a", "b"])
    }
}
