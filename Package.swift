// swift-tools-version: 6.2

import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]
// Set by .ci/run. Not always: a newer compiler's warnings must not keep users from building.
if Context.environment["TASK_OPERATIONS_STRICT"] != nil { settings.append(.treatAllWarnings(as: .error)) }

// A controlled build: see the article Exploration.
let exploredSettings =
    settings + [
        .define("TASK_OPERATIONS_EXPLORED"),
        .unsafeFlags([
            "-module-alias", "TaskOperations=ExploredTaskOperations",
            "-module-alias", "TaskOperationsDiagnosis=ExploredTaskOperationsDiagnosis",
            "-module-alias", "TaskOperationsExtras=ExploredTaskOperationsExtras",
            "-module-alias", "TaskOperationsTesting=ExploredTaskOperationsTesting",
        ]),
    ]

/// The library and the tests that also run under the thread sanitizer.
let core: [Target] = [
    .target(name: "TaskOperations", swiftSettings: settings),
    .target(name: "TaskOperationsExtras", dependencies: ["TaskOperations"], swiftSettings: settings),
    .target(
        name: "TaskOperationsBridge", dependencies: ["TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsDiagnosis", dependencies: ["TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings),
    .target(name: "TaskOperationsTesting", dependencies: ["TaskOperations"], swiftSettings: settings),
    .target(
        name: "TaskOperationsExpectations", dependencies: ["TaskOperationsTesting"], swiftSettings: settings),
    .target(
        name: "MigrationExamplesSupport", dependencies: ["TaskOperations"],
        path: "Sources/MigrationExamples/Support", swiftSettings: settings),
    .systemLibrary(name: "CAllocator"),
    .testTarget(
        name: "TaskOperationsTests",
        dependencies: [
            "TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsExtras", "TaskOperationsTesting",
            "TaskOperationsExpectations", "CAllocator",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "BridgeTests",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
            "TaskOperationsTesting", "TaskOperationsExpectations", "MigrationExamplesSupport",
        ],
        swiftSettings: settings),
]

/// Controlled builds of the library, and their exploration.
let exploration: [Target] = [
    .target(name: "Exploration", swiftSettings: settings),
    .target(
        name: "ExploredTaskOperations", dependencies: ["Exploration"],
        exclude: [
            "Support/Lock.swift", "Support/Monitor.swift", "Support/SystemThread.swift",
            "Support/Platform/POSIXThreads.swift",
        ], swiftSettings: exploredSettings),
    .target(
        name: "ExploredTaskOperationsExtras", dependencies: ["Exploration", "ExploredTaskOperations"],
        swiftSettings: exploredSettings),
    .target(
        name: "ExploredTaskOperationsDiagnosis",
        dependencies: ["Exploration", "ExploredTaskOperations", "ExploredTaskOperationsExtras"],
        swiftSettings: exploredSettings),
    .target(
        name: "ExploredTaskOperationsTesting", dependencies: ["ExploredTaskOperations"],
        swiftSettings: exploredSettings),
    .target(
        name: "ExploredTaskOperationsBridge",
        dependencies: ["Exploration", "ExploredTaskOperations", "ExploredTaskOperationsExtras"],
        exclude: ["Operations/FinishWatcher.swift", "Platform/Corelibs/LegacyObservation.swift"],
        swiftSettings: exploredSettings),
    .target(
        name: "ExploredSimulation",
        dependencies: [
            "ExploredTaskOperations", "ExploredTaskOperationsDiagnosis", "ExploredTaskOperationsTesting",
        ],
        swiftSettings: exploredSettings),
    .testTarget(
        name: "ExplorationTests",
        dependencies: [
            "Exploration", "ExploredTaskOperations", "ExploredTaskOperationsBridge",
            "ExploredTaskOperationsDiagnosis", "ExploredTaskOperationsExtras", "ExploredSimulation",
        ],
        swiftSettings: settings),
]

let others: [Target] = [
    .target(
        name: "TaskOperationsTracing", dependencies: ["TaskOperations"],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsDeliveries", dependencies: ["TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings),
    .target(
        name: "Simulation",
        dependencies: ["TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsTesting"],
        swiftSettings: settings),
    .target(name: "CommandOutput", swiftSettings: settings),
    .target(name: "RedisDeliveries", dependencies: ["TaskOperationsDeliveries"], swiftSettings: settings),
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
        dependencies: ["audit"], path: "Sources/AuditPlugin"),
    .executableTarget(
        name: "benchmark",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
            "TaskOperationsTracing", "TaskOperationsTesting", "SourceAudit", "CAllocator", "CommandOutput",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "SchedulingTests",
        dependencies: ["TaskOperations", "TaskOperationsTesting", "TaskOperationsExpectations"],
        swiftSettings: settings),
    .testTarget(
        name: "TaskOperationsTracingTests",
        dependencies: [
            "TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsExtras", "TaskOperationsTracing",
            "TaskOperationsTesting", "TaskOperationsExpectations", "MigrationExamplesSupport", "tour",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "DeliveriesTests",
        dependencies: [
            "RedisDeliveries", "TaskOperationsDeliveries", "TaskOperationsExtras", "TaskOperationsTesting",
            "TaskOperationsExpectations", "workers",
        ],
        swiftSettings: settings),
    .testTarget(
        name: "SimulationTests", dependencies: ["Simulation", "TaskOperationsExpectations"], exclude: ["Corpus"],
        swiftSettings: settings),
    .testTarget(
        name: "MigrationTests",
        dependencies: [
            "TaskOperationsExtras", "TaskOperationsTesting", "TaskOperationsExpectations",
            "MigrationExamplesSupport", "MigrationExamplesLegacy", "MigrationExamplesPorted", "tour",
            "TaskOperationsTracing",
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
            "SourceAudit", "audit", "TaskOperationsExpectations", "RewriteExamplesBefore", "RewriteExamplesAfter",
        ],
        swiftSettings: settings),
    // An app as Xcode 26 creates it.
    .testTarget(
        name: "DefaultIsolationTests",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsExtras", "TaskOperationsTesting",
            "TaskOperationsExpectations",
        ],
        swiftSettings: settings + [
            .defaultIsolation(MainActor.self), .enableUpcomingFeature("InferIsolatedConformances"),
        ]),
    .testTarget(
        name: "CommandTests",
        dependencies: [
            "audit", "benchmark", "fuzz", "tour", "CommandOutput", "TaskOperationsTesting",
            "TaskOperationsExpectations",
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
    if Context.environment["TASK_OPERATIONS_EXPLORATION"] != nil {
        ([], exploration)
    } else if Context.environment["TASK_OPERATIONS_SANITIZED"] != nil {
        ([], core)
    } else {
        (products, core + exploration + others)
    }

let package = Package(
    name: "TaskOperations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: builtProducts,
    targets: builtTargets,
    swiftLanguageModes: [.v6]
)
