import TaskOperationsTesting
package import Testing

/// Lets others run until something holds. Gives up, and records that, where it does not come in time.
package func until(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
) async {
    let hasCome = await eventually(condition)
    #expect(hasCome, "what was waited for did not come", sourceLocation: sourceLocation)
}
