/// Stops the process with a message if a caller breaks a requirement. Unlike `precondition`, this function also prints
/// the message in release builds.
package func require(
    _ isAllowed: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !isAllowed { fatalError(message(), file: file, line: line) }
}
