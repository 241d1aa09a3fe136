// swift-format-ignore-file
// A stand-in for Foundation, for type-checking only: what the bridge and the tracing module name. See README.md.
//
// Sources. "NSOperation.h" and "NSProgress.h" are headers of Apple's SDK: nullability and NS_SWIFT_SENDABLE are as there.
// "corelibs" is swift-corelibs-foundation 761b621da, Sources/Foundation. KVO: stdlib/public/Darwin/Foundation/NSObject.swift
// of swift 5.3, and the documentation of `NSObjectProtocol.observe(_:options:changeHandler:)` for the attributes.
#if canImport(ObjectiveC)
    @_exported import Darwin
    @_exported import ObjectiveC
#elseif canImport(Musl)
    @_exported import Musl
#elseif canImport(Android)
    @_exported import Android
#elseif os(Windows)
    @_exported import WinSDK
    @_exported import ucrt
#endif
@_exported import Dispatch

public typealias TimeInterval = Double
public enum QualityOfService: Int, Sendable {
    case userInteractive = 33
    case userInitiated = 25
    case utility = 17
    case background = 9
    case `default` = -1
}
#if canImport(ObjectiveC)
    // ObjectiveC.NSObject, with NSKeyValueObserving.h.
    open class NSObject: Equatable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
        public init() {}
        open var description: String { "" }
        open var debugDescription: String { "" }
        public static func == (a: NSObject, b: NSObject) -> Bool { a === b }
        public func hash(into h: inout Hasher) {}
        open func isEqual(_ object: Any?) -> Bool { false }
        open var hash: Int { 0 }
        open func willChangeValue(forKey: String) {}
        open func didChangeValue(forKey: String) {}
        // NSKeyValueObserving.h. An importer makes optional values of the pointers.
        open func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?, context: UnsafeMutableRawPointer?
        ) {}
        open func addObserver(
            _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [], context: UnsafeMutableRawPointer?
        ) {}
        open func removeObserver(_ observer: NSObject, forKeyPath keyPath: String) {}
    }
    // NSKeyValueObserving.h: NS_TYPED_ENUM.
    public struct NSKeyValueChangeKey: Hashable, RawRepresentable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let newKey = Self(rawValue: "new")
    }
#else
    // corelibs, NSObject.swift.
    open class NSObject: Equatable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
        public init() {}
        open var description: String { "" }
        open var debugDescription: String { "" }
        public static func == (a: NSObject, b: NSObject) -> Bool { a === b }
        public func hash(into h: inout Hasher) {}
        open func isEqual(_ object: Any?) -> Bool { false }
        open var hash: Int { 0 }
    }
    // corelibs, Operation.swift.
    extension Operation {
        public func willChangeValue(forKey: String) {}
        public func didChangeValue(forKey: String) {}
    }
#endif
#if canImport(ObjectiveC)
    // NSKeyValueObserving.h: NS_OPTIONS are Sendable.
    public struct NSKeyValueObservingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let new = Self(rawValue: 1), old = Self(rawValue: 2), initial = Self(rawValue: 4), prior = Self(rawValue: 8)
    }
    // KVO.
    public struct NSKeyValueObservedChange<Value> {
        public let newValue: Value?
        public let oldValue: Value?
        public let isPrior: Bool
    }
    #if OBSERVATION_IS_SENDABLE
        // The source does not say whether a class of an audited module is Sendable. Both possibilities are checked.
        public class NSKeyValueObservation: NSObject, @unchecked Sendable { public func invalidate() {} }
    #else
        public class NSKeyValueObservation: NSObject { public func invalidate() {} }
        @available(*, unavailable)
        extension NSKeyValueObservation: @unchecked Sendable {}
    #endif
    public protocol _KeyValueCodingAndObserving {}
    extension NSObject: _KeyValueCodingAndObserving {}
    extension _KeyValueCodingAndObserving {
        // The documentation has @preconcurrency and @Sendable.
        @preconcurrency public func observe<Value>(
            _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
            changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
        ) -> NSKeyValueObservation { fatalError() }
    }
#endif
// NSOperation.h: NS_SWIFT_SENDABLE, and NS_SWIFT_UNAVAILABLE_FROM_ASYNC for the waits. corelibs agrees.
open class Operation: NSObject, @unchecked Sendable {
    public enum QueuePriority: Int, Sendable {
        case veryLow = -8
        case low = -4
        case normal = 0
        case high = 4
        case veryHigh = 8
    }
    public override init() {}
    open func start() {}
    open func main() {}
    open func cancel() {}
    open var isCancelled: Bool { false }
    open var isExecuting: Bool { false }
    open var isFinished: Bool { false }
    open var isConcurrent: Bool { false }
    open var isAsynchronous: Bool { false }
    open var isReady: Bool { true }
    open func addDependency(_ op: Operation) {}
    open func removeDependency(_ op: Operation) {}
    open var dependencies: [Operation] { [] }
    open var queuePriority: QueuePriority {
        get { .normal }
        set {}
    }
    open var completionBlock: (@Sendable () -> Void)? {
        get { nil }
        set {}
    }
    @available(*, noasync, message: "Use completionBlock or a dependent Operation instead")
    open func waitUntilFinished() {}
    open var qualityOfService: QualityOfService {
        get { .default }
        set {}
    }
    open var name: String? {
        get { nil }
        set {}
    }
    open var threadPriority: Double {
        get { 0 }
        set {}
    }
}
open class BlockOperation: Operation, @unchecked Sendable {
    public convenience init(block: @escaping @Sendable () -> Void) { self.init() }
    open func addExecutionBlock(_ block: @escaping @Sendable () -> Void) {}
}
open class OperationQueue: NSObject, @unchecked Sendable {
    public override init() {}
    open class var main: OperationQueue { OperationQueue() }
    open class var current: OperationQueue? { nil }
    public static let defaultMaxConcurrentOperationCount = -1
    open func addOperation(_ op: Operation) {}
    @available(*, noasync, message: "Use addBarrierBlock or a dependent Operation instead")
    open func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {}
    open func addOperation(_ block: @escaping @Sendable () -> Void) {}
    open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {}
    #if canImport(ObjectiveC)
        open var operations: [Operation] { [] }
        open var operationCount: Int { 0 }
    #endif
    open var maxConcurrentOperationCount: Int {
        get { 0 }
        set {}
    }
    open var isSuspended: Bool {
        get { false }
        set {}
    }
    open var name: String? {
        get { nil }
        set {}
    }
    open var qualityOfService: QualityOfService {
        get { .default }
        set {}
    }
    unowned(unsafe) open var underlyingQueue: DispatchQueue? {
        get { nil }
        set {}
    }
    open func cancelAllOperations() {}
    @available(*, noasync, message: "Use addBarrierBlock or a dependent Operation instead")
    open func waitUntilAllOperationsAreFinished() {}
    open var progress: Progress { Progress() }
}
#if !canImport(ObjectiveC)
    // corelibs, Operation.swift: declared in an extension, so that no subclass can override them.
    extension OperationQueue {
        public var operations: [Operation] { [] }
        public var operationCount: Int { 0 }
    }
#endif
// NSProgress.h: NS_SWIFT_SENDABLE; `localizedDescription` is null_resettable. corelibs agrees.
open class Progress: NSObject, @unchecked Sendable {
    public convenience override init() { self.init(parent: nil) }
    public convenience init(totalUnitCount: Int64) { self.init() }
    public class func current() -> Progress? { nil }
    public init(parent: Progress?, userInfo: [ProgressUserInfoKey: Any]? = nil) {}
    public convenience init(totalUnitCount: Int64, parent: Progress, pendingUnitCount: Int64) { self.init() }
    public class func discreteProgress(totalUnitCount: Int64) -> Progress { Progress() }
    open var totalUnitCount: Int64 {
        get { 0 }
        set {}
    }
    open var completedUnitCount: Int64 {
        get { 0 }
        set {}
    }
    open var fractionCompleted: Double { 0 }
    open var isCancelled: Bool { false }
    open var isFinished: Bool { false }
    open var isIndeterminate: Bool { false }
    open var isCancellable: Bool {
        get { false }
        set {}
    }
    open var isPausable: Bool {
        get { false }
        set {}
    }
    open var isPaused: Bool { false }
    open var cancellationHandler: (@Sendable () -> Void)? {
        get { nil }
        set {}
    }
    open var pausingHandler: (@Sendable () -> Void)? {
        get { nil }
        set {}
    }
    open var resumingHandler: (@Sendable () -> Void)? {
        get { nil }
        set {}
    }
    open func cancel() {}
    open func pause() {}
    open func resume() {}
    open func addChild(_ child: Progress, withPendingUnitCount: Int64) {}
    open func becomeCurrent(withPendingUnitCount: Int64) {}
    open func resignCurrent() {}
    open var localizedDescription: String! {
        get { "" }
        set {}
    }
}
public struct ProgressUserInfoKey: Hashable, Sendable { public let rawValue: String }
open class NSLock: NSObject, @unchecked Sendable {
    public override init() {}
    open func lock() {}
    open func unlock() {}
    open var name: String? {
        get { nil }
        set {}
    }
}
extension NSLock { public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() } }
open class Thread: NSObject, @unchecked Sendable {
    public override init() {}
    public convenience init(block: @escaping @Sendable () -> Void) { self.init() }
    open func start() {}
    open var name: String? {
        get { nil }
        set {}
    }
    open var stackSize: Int {
        get { 0 }
        set {}
    }
    open class var current: Thread { Thread() }
    open class var isMainThread: Bool { false }
    open class func setThreadPriority(_ p: Double) -> Bool { true }
    open class func threadPriority() -> Double { 0 }
}
// NSLock, `withLock` of NSLocking: swift-foundation's and Apple's overlay agree.
// Variadic functions of the C library, which the overlays of Darwin, Musl and Android declare for Swift.
#if !os(Windows)
    #if !canImport(ObjectiveC)
        public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { 0 }
    #else
        public func fcntl(_ fd: Int32, _ cmd: Int32) -> Int32 { 0 }
    #endif
    public func fcntl(_ fd: Int32, _ cmd: Int32, _ value: Int32) -> Int32 { 0 }
    public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: mode_t) -> Int32 { 0 }
#endif
public var errno: Int32 {
    get { 0 }
    set {}
}

// swift-foundation, Sources/FoundationEssentials: URL, Data, JSONDecoder, and Foundation's FileHandle.
public struct URL: Sendable, Hashable {
    public enum DirectoryHint: Sendable { case isDirectory, notDirectory, checkFileSystem, inferFromPath }
    public init(filePath: String, directoryHint: DirectoryHint = .inferFromPath, relativeTo: URL? = nil) {}
    public var path: String { "" }
    public func appendingPathExtension(_ e: String) -> URL { self }
    public func deletingPathExtension() -> URL { self }
    public var pathExtension: String { "" }
    public var lastPathComponent: String { "" }
    public func deletingLastPathComponent() -> URL { self }
    public func appending(path: String) -> URL { self }
}
public struct Data: Sendable, Hashable, RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    public typealias Index = Int
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let mappedIfSafe = Self(rawValue: 1)
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public init() {}
    public init(contentsOf url: URL, options: ReadingOptions = []) throws {}
    public func write(to url: URL, options: WritingOptions = []) throws {}
    public var startIndex: Int { 0 }
    public var endIndex: Int { 0 }
    public subscript(index: Int) -> UInt8 {
        get { 0 }
        set {}
    }
    public subscript(bounds: Range<Int>) -> Data {
        get { self }
        set {}
    }
    public mutating func replaceSubrange<C: Collection>(_ r: Range<Int>, with c: C) where C.Element == UInt8 {}
}
open class JSONEncoder: @unchecked Sendable {
    public init() {}
    open func encode<T: Encodable>(_ value: T) throws -> Data { fatalError() }
}
open class JSONDecoder: @unchecked Sendable {
    public init() {}
    open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
}
public protocol DataProtocol: RandomAccessCollection where Element == UInt8 {}
extension Data: DataProtocol {}
extension Array: DataProtocol where Element == UInt8 {}
extension UnsafeRawBufferPointer: DataProtocol {}
extension UnsafeBufferPointer: DataProtocol where Element == UInt8 {}
open class FileHandle: NSObject, @unchecked Sendable {
    public convenience init(forWritingTo url: URL) throws { self.init() }
    public func write<T: DataProtocol>(contentsOf data: T) throws {}
    public func close() throws {}
}
open class FileManager: NSObject, @unchecked Sendable {
    open class var `default`: FileManager { FileManager() }
    open func fileExists(atPath path: String) -> Bool { false }
    open func removeItem(at url: URL) throws {}
    open func moveItem(at from: URL, to: URL) throws {}
}
extension Error { public var localizedDescription: String { "" } }
