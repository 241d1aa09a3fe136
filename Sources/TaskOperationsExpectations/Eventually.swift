import TaskOperationsTesting
package import Testing

/// Lets other tasks run until a condition holds. Records an issue if it does not hold in time.
package func until(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let hasCome = await eventually(condition)
    #expect(hasCome, "the condition did not become true in time", sourceLocation: sourceLocation)
}
