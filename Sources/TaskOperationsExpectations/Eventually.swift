import TaskOperationsTesting
package import Testing

/// Lets others run until something holds. Gives up, and records that, where it does not come in time.
package func until(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let hasCome = await eventually(condition)
    #expect(hasCome, "the condition did not become true in time", sourceLocation: sourceLocation)
}
