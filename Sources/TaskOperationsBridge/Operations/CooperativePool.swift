#if canImport(CDispatch)
    internal import CDispatch
    internal import Foundation
#else
    internal import Dispatch
#endif

/// The threads that run tasks by default, one for each processor: blocking them starves everybody else.
enum CooperativePool {
    /// Whether the calling thread runs a job of the pool. The pool is made of Dispatch queues, which tell by their label.
    static var isCurrent: Bool {
        #if canImport(CDispatch)
            strcmp(dispatch_queue_get_label(nil), "Swift global concurrent queue") == 0
        #else
            let label = String(cString: __dispatch_queue_get_label(nil))
            return label.hasPrefix("com.apple.root.") && label.hasSuffix(".cooperative")
        #endif
    }
}
