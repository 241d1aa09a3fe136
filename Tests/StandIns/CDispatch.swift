// swift-format-ignore-file
// A stand-in for the C module of swift-corelibs-libdispatch, dispatch/queue.h: without the Objective-C runtime a queue is a
// pointer to an opaque structure.
public func dispatch_queue_get_label(_ queue: OpaquePointer?) -> UnsafePointer<CChar> { fatalError() }
