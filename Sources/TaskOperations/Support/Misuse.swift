/// Stops with a message where a caller passes what is never allowed. Unlike `precondition`, it prints the message
/// in release builds too.
package func require(
    _ isAllowed: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !isAllowed { fatalError(message(), file: file, line: line) }
}
