// swift-tools-version: 6.2

import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
// Set by .ci/run. Not always: a newer compiler's warnings must not keep users from building.
if Context.environment["TASK_OPERATIONS_STRICT"] != nil { settings.append(.treatAllWarnings(as: .error)) }

// The controlled build for the exploration of threads: see the article Exploration.
let isExplored = Context.environment["TASK_OPERATIONS_EXPLORATION"] != nil
if isExplored { settings.append(.define("TASK_OPERATIONS_EXPLORED")) }
let explored: [Target.Dependency] = isExplored ? ["Exploration"] : []

/// The library.
let library: [Target] = [
    // C functions that Swift cannot import or declare by public means.
    .target(name: "CTaskOperations"),
    .target(
        name: "TaskOperations", dependencies: explored + ["CTaskOperations"],
        exclude: isExplored
            ? [
                "Support/Lock.swift", "Support/Monitor.swift", "Support/SystemThread.swift",
                "Support/Platform/POSIXThreads.swift",
            ] : [],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsExtras", dependencies: explored + ["TaskOperations"], swiftSettings: settings),
    .target(
        name: "TaskOperationsBridge",
        dependencies: explored + ["CTaskOperations", "TaskOperations", "TaskOperationsExtras"],
        exclude: isExplored
            ? ["Operations/FinishWatcher.swift", "Platform/Corelibs/LegacyObservation.swift"] : [],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsDiagnosis", dependencies: explored + ["TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings),
    // The points of the runtime at which explorations of schedules take part. Only products for tests contain it.
    .target(name: "CSchedules"),
    .target(
        name: "TaskOperationsTesting", dependencies: ["CSchedules", "CTaskOperations", "TaskOperations"],
        swiftSettings: settings),
]

/// The tests that also run under the thread sanitizer.
let core: [Target] = [
    .target(
        name: "TaskOperationsExpectations", dependencies: ["CSchedules", "TaskOperationsTesting"],
        swiftSettings: settings),
    // Traits and measurements of the package's own tests.
    .target(
        name: "TestSupport", dependencies: ["Simulation", "TaskOperations"], path: "Tests/TestSupport",
        swiftSettings: settings),
    .target(
        name: "MigrationExamplesSupport", dependencies: ["TaskOperations"],
        path: "Sources/MigrationExamples/Support", swiftSettings: settings),
    .systemLibrary(name: "CAllocator"),
    .testTarget(
        name: "TaskOperationsTests",
        dependencies: [
            "TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsExtras", "TaskOperationsTesting",
            "TaskOperationsExpectations", "CAllocator", "TestSupport",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "BridgeTests",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
            "TaskOperationsTesting", "MigrationExamplesSupport", "Simulation", "TestSupport",
        ],
        swiftSettings: settings),
]

let simulation: Target = .target(
    name: "Simulation",
    dependencies: ["TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsExtras"], swiftSettings: settings)

/// The exploration of the controlled library.
let exploration: [Target] = [
    .target(name: "CExploration"),
    .target(name: "Exploration", dependencies: ["CExploration"], swiftSettings: settings),
    .testTarget(
        name: "ExplorationTests",
        dependencies: [
            "Exploration", "Simulation", "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis",
            "TaskOperationsExtras",
        ],
        swiftSettings: settings),
]

let others: [Target] = [
    .target(
        name: "TaskOperationsTracing", dependencies: ["TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsDeliveries", dependencies: ["TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings),
    .target(name: "CommandOutput", swiftSettings: settings),
    .target(
        name: "RedisDeliveries", dependencies: ["TaskOperations", "TaskOperationsDeliveries"], swiftSettings: settings),
    .executableTarget(
        name: "workers",
        dependencies: ["CommandOutput", "RedisDeliveries", "TaskOperations", "TaskOperationsDeliveries"],
        swiftSettings: settings),
    .executableTarget(
        name: "fuzz", dependencies: ["CommandOutput", "Simulation", "SourceAudit"], swiftSettings: settings),
    .target(
        name: "MigrationExamplesLegacy", dependencies: ["MigrationExamplesSupport"],
        path: "Sources/MigrationExamples/Legacy", swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
        name: "MigrationExamplesPorted",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
            "MigrationExamplesSupport",
        ],
        path: "Sources/MigrationExamples/Ported", swiftSettings: settings),
    .executableTarget(
        name: "tour",
        dependencies: [
            "CommandOutput", "TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsTracing",
            "MigrationExamplesSupport", "MigrationExamplesLegacy", "MigrationExamplesPorted",
        ],
        swiftSettings: settings),
    .target(name: "CIndexStore"),
    .target(name: "SourceAudit", dependencies: ["CIndexStore"], swiftSettings: settings),
    .executableTarget(name: "audit", dependencies: ["CommandOutput", "SourceAudit"], swiftSettings: settings),
    .plugin(
        name: "AuditPlugin",
        capability: .command(
            intent: .custom(
                verb: "audit", description: "Lists the code to move to TaskOperations, and the order.")),
        path: "Sources/AuditPlugin"),
    .executableTarget(
        name: "benchmark",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
            "TaskOperationsTracing", "Simulation", "SourceAudit", "CAllocator", "CommandOutput",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "SchedulingTests",
        dependencies: ["TaskOperations", "TaskOperationsTesting", "TaskOperationsExpectations", "TestSupport"],
        swiftSettings: settings),
    .testTarget(
        name: "TaskOperationsTracingTests",
        dependencies: [
            "TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsExtras", "TaskOperationsTracing",
            "TaskOperationsTesting", "TaskOperationsExpectations", "MigrationExamplesSupport", "TestSupport", "tour",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "DeliveriesTests",
        dependencies: [
            "RedisDeliveries", "TaskOperationsDeliveries", "TaskOperationsExtras", "TaskOperationsTesting",
            "TaskOperationsExpectations", "Simulation", "TestSupport", "workers",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "SimulationTests",
        dependencies: ["Simulation", "TaskOperationsExtras", "TaskOperationsTesting", "TestSupport"],
        exclude: ["Corpus"],
        swiftSettings: settings),
    .testTarget(
        name: "MigrationTests",
        dependencies: [
            "TaskOperationsExtras", "TaskOperationsTesting", "TaskOperationsExpectations",
            "MigrationExamplesSupport", "MigrationExamplesLegacy", "MigrationExamplesPorted", "tour",
            "TaskOperationsTracing", "TestSupport",
        ],
        swiftSettings: settings),
    .target(
        name: "RewriteExamplesBefore", path: "Tests/RewriteExamples/Before",
        swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
        name: "RewriteExamplesAfter", dependencies: ["TaskOperationsBridge"], path: "Tests/RewriteExamples/After",
        swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
        name: "SourceAuditTests",
        dependencies: [
            "SourceAudit", "audit", "TestSupport", "RewriteExamplesBefore", "RewriteExamplesAfter",
        ],
        swiftSettings: settings),
    // An app as Xcode 26 creates it.
    .testTarget(
        name: "DefaultIsolationTests",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsExtras", "TaskOperationsTesting",
            "TestSupport",
        ],
        swiftSettings: settings + [
            .defaultIsolation(MainActor.self), .enableUpcomingFeature("InferIsolatedConformances"),
        ]),
    .testTarget(
        name: "CommandTests",
        dependencies: [
            "audit", "benchmark", "fuzz", "tour", "CommandOutput", "TaskOperationsTesting", "TestSupport",
        ],
        swiftSettings: settings),
]

let products: [Product] = [
    .library(name: "TaskOperations", targets: ["TaskOperations"]),
    .library(name: "TaskOperationsExtras", targets: ["TaskOperationsExtras"]),
    .library(name: "TaskOperationsBridge", targets: ["TaskOperationsBridge"]),
    .library(name: "TaskOperationsDiagnosis", targets: ["TaskOperationsDiagnosis"]),
    .library(name: "TaskOperationsTracing", targets: ["TaskOperationsTracing"]),
    .library(name: "TaskOperationsDeliveries", targets: ["TaskOperationsDeliveries"]),
    .library(name: "TaskOperationsTesting", targets: ["TaskOperationsTesting", "TaskOperationsExpectations"]),
    .executable(name: "audit", targets: ["audit"]),
    .plugin(name: "AuditPlugin", targets: ["AuditPlugin"]),
]

// A build for one purpose contains only the targets that it needs: see .ci/run.
let (builtProducts, builtTargets): ([Product], [Target]) =
    if isExplored {
        ([], library + [simulation] + exploration)
    } else if Context.environment["TASK_OPERATIONS_SANITIZED"] != nil {
        ([], library + [simulation] + core)
    } else {
        (products, library + core + [simulation] + others)
    }

let package = Package(
    name: "TaskOperations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: builtProducts,
    targets: builtTargets,
    swiftLanguageModes: [.v6]
)
