import Synchronization

/// An object that another module keeps with an operation until the operation has finished.
package typealias Attachment = any AnyObject & Sendable

extension AnyTaskOperation {
    /// Whether the operation has finished, and the progress that is attached to it.
    package var attachedProgress: (isFinished: Bool, progress: Attachment?) {
        record.withLock { ($0.phase == .finished, $0.links?.progress) }
    }

    /// Attaches `progress` if the operation has no progress yet.
    ///
    /// - Parameter onEnd: Called when the operation has finished, but only if this call attached `progress`.
    /// - Returns: The operation's progress, which is `progress` or the progress that was attached earlier. Nil if the
    ///   operation has finished.
    package func attach(progress: Attachment, onEnd: @escaping @Sendable (AnyTaskOperation) -> Void) -> Attachment? {
        record.withLock { record in
            if record.phase == .finished { return nil }
            let links = record.madeLinks()
            if let present = links.progress { return present }
            links.progress = progress
            links.addHandler(onEnd, isOwn: true)
            return progress
        }
    }
}
