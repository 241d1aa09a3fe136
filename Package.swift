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

// The build for the thread sanitizer.
let isSanitized = Context.environment["TASK_OPERATIONS_SANITIZED"] != nil

/// The products for programs and their tests.
let library: [Target] = [
    // C functions that Swift cannot import or declare by public means.
    .target(name: "CTaskOperations"),
    .target(
        name: "TaskOperations", dependencies: explored + ["CTaskOperations"],
        exclude: isExplored
            ? ["Support/Lock.swift", "Support/SystemThread.swift", "Support/Platform/POSIXThreads.swift"] : [],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsExtras", dependencies: explored + ["CTaskOperations", "TaskOperations"],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsBridge",
        dependencies: explored + ["CTaskOperations", "TaskOperations", "TaskOperationsExtras"],
        exclude: isExplored
            ? ["Operations/FinishWatcher.swift", "Platform/Corelibs/LegacyObservation.swift"] : [],
        swiftSettings: settings),
    .target(
        name: "TaskOperationsDiagnosis",
        dependencies: explored + ["CTaskOperations", "TaskDump", "TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings),
    // The layout of tasks in the runtime, and the threads of the process.
    .target(name: "CTaskDump"),
    .target(name: "TaskDump", dependencies: ["CTaskDump"], swiftSettings: settings),
    // The points of the runtime at which explorations of schedules take part. Only products for tests contain it.
    .target(name: "CSchedules", dependencies: ["CTaskDump"]),
    .target(
        name: "TaskOperationsTesting",
        dependencies: [
            "CSchedules", "CTaskDump", "CTaskOperations", "TaskDump", "TaskOperations", "TaskOperationsDiagnosis",
        ] + (isExplored ? [] : ["TaskOperationsDeliveries"]),
        exclude: isExplored ? ["Deliveries"] : [],
        swiftSettings: settings),
]

/// The consumer of engines, and engines within a process.
let deliveries: [Target] = [
    .target(
        name: "TaskOperationsDeliveries", dependencies: ["TaskOperations", "TaskOperationsExtras"],
        swiftSettings: settings)
]

/// The tests of the library, and the targets that they need. The build for the thread sanitizer contains them.
let libraryTests: [Target] = [
    // Traits and measurements of the package's own tests.
    .target(
        name: "TestSupport", dependencies: ["CTaskOperations", "Simulation", "TaskOperations"],
        path: "Tests/TestSupport",
        swiftSettings: settings),
    .target(
        name: "MigrationExamplesSupport", dependencies: ["TaskOperations"],
        path: "Sources/MigrationExamples/Support", swiftSettings: settings),
    // Functions of the allocator and of libIndexStore.
    .target(name: "CTools", path: "Sources/Tools/CTools"),
    .testTarget(
        name: "TaskOperationsTests",
        dependencies: [
            "TaskDump", "TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsExtras", "TaskOperationsTesting",
            "CTools", "Simulation", "TestSupport",
        ] + (isSanitized ? [] : ["MigrationExamplesSupport", "TaskOperationsDeliveries", "tour"]),
        // These tests have one thread, or start child processes.
        exclude: ["Simulation/Corpus"]
            + (isSanitized ? ["Deliveries", "Scheduling", "Simulation", "TaskDump", "Tracing"] : []),
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
    dependencies: ["TaskOperations", "TaskOperationsDiagnosis", "TaskOperationsExtras"],
    path: "Sources/Verification/Simulation", swiftSettings: settings)

/// The exploration of the controlled library.
let exploration: [Target] = [
    .target(name: "CExploration", path: "Sources/Verification/CExploration"),
    .target(
        name: "Exploration", dependencies: ["CExploration"], path: "Sources/Verification/Exploration",
        swiftSettings: settings),
    .testTarget(
        name: "ExplorationTests",
        dependencies: [
            "Exploration", "Simulation", "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis",
            "TaskOperationsExtras",
        ],
        swiftSettings: settings),
]

let workers: [Target] = [
    .executableTarget(
        name: "workers", dependencies: ["SourceAudit", "TaskOperations", "TaskOperationsDeliveries"],
        path: "Sources/Tools/workers", swiftSettings: settings)
]

/// The recipes, the sources before and after a rewrite of the audit, and the command that compares the sides of recipes.
let recipes: [Target] = [
    .target(
        name: "MigrationExamplesLegacy", dependencies: ["MigrationExamplesSupport"],
        path: "Sources/MigrationExamples", exclude: ["Ported", "Programs", "Recipes", "Rewrites/After", "Support"],
        sources: ["Legacy", "Rewrites/Before"], swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
        name: "MigrationExamplesPorted",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
            "MigrationExamplesSupport",
        ],
        path: "Sources/MigrationExamples", exclude: ["Legacy", "Recipes", "Rewrites/Before", "Support"],
        sources: ["Ported", "Programs", "Rewrites/After"], swiftSettings: settings),
    .executableTarget(
        name: "tour",
        dependencies: [
            "SourceAudit", "TaskOperations", "TaskOperationsDiagnosis",
            "MigrationExamplesSupport", "MigrationExamplesLegacy", "MigrationExamplesPorted",
        ],
        path: "Sources/Tools/tour", swiftSettings: settings),
    .testTarget(
        name: "MigrationTests",
        dependencies: [
            "TaskOperationsDiagnosis", "TaskOperationsExtras", "TaskOperationsTesting", "TestSupport",
            "MigrationExamplesSupport", "MigrationExamplesLegacy", "MigrationExamplesPorted", "tour",
        ],
        swiftSettings: settings),
]

let tools: [Target] = [
    .target(
        name: "SourceAudit", dependencies: ["CTools"], path: "Sources/Tools/SourceAudit", swiftSettings: settings),
    .executableTarget(
        name: "audit", dependencies: ["SourceAudit"], path: "Sources/Tools/audit", swiftSettings: settings),
    .plugin(
        name: "AuditPlugin",
        capability: .command(
            intent: .custom(
                verb: "audit", description: "Lists the code to move to TaskOperations, and the order.")),
        path: "Sources/Tools/AuditPlugin"),
    .executableTarget(
        name: "fuzz", dependencies: ["Simulation", "SourceAudit"], path: "Sources/Verification/fuzz",
        swiftSettings: settings),
    .executableTarget(
        name: "hangs", dependencies: ["TaskDump", "TaskOperations", "TaskOperationsDiagnosis"],
        path: "Sources/Verification/hangs", swiftSettings: settings),
    .executableTarget(
        name: "benchmark",
        dependencies: [
            "TaskOperations", "TaskOperationsBridge", "TaskOperationsDiagnosis", "TaskOperationsExtras",
            "Simulation", "SourceAudit", "TaskDump", "CTools",
        ],
        path: "Sources/Verification/benchmark",
        // The benchmark compiles it if the C++ libraries are installed.
        exclude: ["Cases/Forking/forking.cpp"], swiftSettings: settings),
    .testTarget(
        name: "ToolTests",
        dependencies: [
            "SourceAudit", "TaskDump", "audit", "benchmark", "fuzz", "hangs", "tour", "workers",
            "TaskOperationsDeliveries",
            "TaskOperationsTesting", "TestSupport", "MigrationExamplesLegacy", "MigrationExamplesPorted",
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
]

let products: [Product] = [
    .library(name: "TaskOperations", targets: ["TaskOperations"]),
    .library(name: "TaskOperationsExtras", targets: ["TaskOperationsExtras"]),
    .library(name: "TaskOperationsBridge", targets: ["TaskOperationsBridge"]),
    .library(name: "TaskOperationsDiagnosis", targets: ["TaskOperationsDiagnosis"]),
    .library(name: "TaskOperationsDeliveries", targets: ["TaskOperationsDeliveries"]),
    .library(name: "TaskOperationsTesting", targets: ["TaskOperationsTesting"]),
    .library(name: "TaskDump", targets: ["TaskDump"]),
    .executable(name: "audit", targets: ["audit"]),
    .plugin(name: "AuditPlugin", targets: ["AuditPlugin"]),
]

// A build for one purpose contains only the targets that it needs: see .ci/run.
let (builtProducts, builtTargets): ([Product], [Target]) =
    if isExplored {
        ([], library + [simulation] + exploration)
    } else if isSanitized {
        ([], library + deliveries + [simulation] + libraryTests)
    } else {
        (products, library + deliveries + libraryTests + [simulation] + workers + recipes + tools)
    }

let package = Package(
    name: "TaskOperations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: builtProducts,
    targets: builtTargets,
    swiftLanguageModes: [.v6]
)
