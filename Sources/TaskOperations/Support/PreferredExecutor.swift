/// Returns the executor on which child tasks of the calling task would run; nil for the cooperative pool, and on
/// systems that do not provide this information.
package func preferredTaskExecutor() -> (any TaskExecutor)? {
    #if compiler(>=6.3)
        if #available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *) {
            return withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
        }
    #endif
    return nil
}
