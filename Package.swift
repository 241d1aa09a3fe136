// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "TaskOperations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "TaskOperations", targets: ["TaskOperations"])
    ],
    targets: [
        .target(name: "TaskOperations", swiftSettings: settings),
        .executableTarget(name: "benchmark", dependencies: ["TaskOperations"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
