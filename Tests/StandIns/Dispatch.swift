// swift-format-ignore-file
// A stand-in for Dispatch, for type-checking only: what the bridge and the tracing module name. See README.md.
//
// Sources: swift-corelibs-libdispatch, src/swift (Queue.swift, Source.swift, Block.swift, Time.swift, Wrapper.swift,
// Private.swift); Apple's overlay is made of the same files, and dispatch/*.h of its SDK mark the classes
// DISPATCH_SWIFT_SENDABLE (`OS_OBJECT_DECL_SENDABLE_CLASS`) and the blocks `@Sendable`.
#if canImport(ObjectiveC)
    @_exported import Darwin
#endif

open class DispatchObject: NSObjectStub, @unchecked Sendable {
    public func activate() {}
    public func suspend() {}
    public func resume() {}
    public func setTarget(queue: DispatchQueue?) {}
}
open class NSObjectStub {}
public struct DispatchQoS: Sendable, Equatable {
    public enum QoSClass: Sendable { case background, utility, `default`, userInitiated, userInteractive, unspecified }
    public let qosClass: QoSClass
    public let relativePriority: Int
    public init(qosClass: QoSClass, relativePriority: Int) {
        self.qosClass = qosClass
        self.relativePriority = relativePriority
    }
    public static let background = DispatchQoS(qosClass: .background, relativePriority: 0), utility = background, `default` = background,
        userInitiated = background, userInteractive = background, unspecified = background
}
public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let barrier = Self(rawValue: 1), detached = Self(rawValue: 2), assignCurrentContext = Self(rawValue: 4), noQoS = Self(rawValue: 8),
        inheritQoS = Self(rawValue: 16), enforceQoS = Self(rawValue: 32)
}
public enum DispatchTimeoutResult: Sendable { case success, timedOut }
public enum DispatchTimeInterval: Sendable, Equatable {
    case seconds(Int)
    case milliseconds(Int)
    case microseconds(Int)
    case nanoseconds(Int)
    case never
}
public struct DispatchTime: Comparable, Sendable {
    public let rawValue: UInt64
    public var uptimeNanoseconds: UInt64 { rawValue }
    public init(uptimeNanoseconds: UInt64) { rawValue = uptimeNanoseconds }
    public static func now() -> DispatchTime { DispatchTime(uptimeNanoseconds: 0) }
    public static let distantFuture = DispatchTime(uptimeNanoseconds: .max)
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
public struct DispatchWallTime: Comparable, Sendable {
    public let rawValue: UInt64
    public static let distantFuture = DispatchWallTime(rawValue: 0)
    public static func now() -> Self { distantFuture }
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}
public func + (t: DispatchTime, i: DispatchTimeInterval) -> DispatchTime { t }
public func + (t: DispatchTime, s: Double) -> DispatchTime { t }
public class DispatchWorkItem: @unchecked Sendable {
    public init(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], block: @escaping @convention(block) () -> Void) {}
    public func perform() {}
    public func wait() {}
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
    public func notify(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue, execute: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func notify(queue: DispatchQueue, execute: DispatchWorkItem) {}
    public func cancel() {}
    public var isCancelled: Bool { false }
}
public class DispatchQueue: DispatchObject, @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let concurrent = Self(rawValue: 2), initiallyInactive = Self(rawValue: 4)
    }
    public enum AutoreleaseFrequency: Sendable { case inherit, workItem, never }
    public static let main = DispatchQueue(label: "main")
    public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { main }
    public convenience init(
        label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [], autoreleaseFrequency: AutoreleaseFrequency = .inherit,
        target: DispatchQueue? = nil
    ) { self.init() }
    override init() {}
    public var label: String { "" }
    public var qos: DispatchQoS { .unspecified }
    public func async(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func async(execute workItem: DispatchWorkItem) {}
    public func async(group: DispatchGroup, execute: DispatchWorkItem) {}
    public func sync<T>(execute work: () throws -> T) rethrows -> T { try work() }
    public func sync<T>(flags: DispatchWorkItemFlags, execute work: () throws -> T) rethrows -> T { try work() }
    public func asyncAfter(
        deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], execute: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func asyncAfter(deadline: DispatchTime, execute: DispatchWorkItem) {}
    public func setSpecific<T>(key: DispatchSpecificKey<T>, value: T?) {}
    public func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
    public class func getSpecific<T>(key: DispatchSpecificKey<T>) -> T? { nil }
    public class func concurrentPerform(iterations: Int, execute: (Int) -> Void) {}
}
public final class DispatchSpecificKey<T>: @unchecked Sendable { public init() {} }
open class DispatchGroup: DispatchObject, @unchecked Sendable {
    public override init() {}
    public func enter() {}
    public func leave() {}
    public func wait() {}
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
    public func notify(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue, execute: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func notify(queue: DispatchQueue, work: DispatchWorkItem) {}
}
open class DispatchSemaphore: DispatchObject, @unchecked Sendable {
    public convenience init(value: Int) { self.init() }
    override init() {}
    @discardableResult public func signal() -> Int { 0 }
    public func wait() {}
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
}
public protocol DispatchSourceProtocol: AnyObject, Sendable {
    func setEventHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@Sendable @convention(block) () -> Void)?)
    func setEventHandler(handler: DispatchWorkItem)
    func setCancelHandler(qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@Sendable @convention(block) () -> Void)?)
    func setCancelHandler(handler: DispatchWorkItem)
    func cancel()
    func resume()
    func suspend()
    func activate()
    var handle: UInt { get }
    var mask: UInt { get }
    var data: UInt { get }
    var isCancelled: Bool { get }
}
extension DispatchSourceProtocol {
    public func setRegistrationHandler(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: (@Sendable @convention(block) () -> Void)?)
    {}
    public func setEventHandler(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: (@Sendable @convention(block) () -> Void)?) {}
    public func setCancelHandler(qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: (@Sendable @convention(block) () -> Void)?) {}
}
public protocol DispatchSourceUserDataAdd: DispatchSourceProtocol { func add(data: UInt) }
public protocol DispatchSourceUserDataOr: DispatchSourceProtocol { func or(data: UInt) }
public protocol DispatchSourceUserDataReplace: DispatchSourceProtocol { func replace(data: UInt) }
public protocol DispatchSourceTimer: DispatchSourceProtocol {
    func schedule(deadline: DispatchTime, repeating: DispatchTimeInterval, leeway: DispatchTimeInterval)
}
extension DispatchSourceTimer {
    public func schedule(deadline: DispatchTime, repeating: DispatchTimeInterval = .never, leeway: DispatchTimeInterval = .nanoseconds(0)) {}
    public func schedule(deadline: DispatchTime, repeating: Double, leeway: DispatchTimeInterval = .nanoseconds(0)) {}
}
#if canImport(ObjectiveC)
public protocol DispatchSourceProcess: DispatchSourceProtocol {
    var handle: pid_t { get }
    var data: DispatchSource.ProcessEvent { get }
}
#endif
public protocol DispatchSourceRead: DispatchSourceProtocol {}
public protocol DispatchSourceWrite: DispatchSourceProtocol {}
public protocol DispatchSourceSignal: DispatchSourceProtocol {}
open class DispatchSource: DispatchObject, @unchecked Sendable {
    public struct ProcessEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let exit = Self(rawValue: 1), fork = Self(rawValue: 2), exec = Self(rawValue: 4), signal = Self(rawValue: 8), all: Self = []
    }
    public struct TimerFlags: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let strict = Self(rawValue: 1)
    }
    public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil) -> any DispatchSourceTimer { fatalError() }
    #if canImport(ObjectiveC)
        public class func makeProcessSource(identifier: pid_t, eventMask: ProcessEvent, queue: DispatchQueue? = nil) -> any DispatchSourceProcess { fatalError() }
    #endif
    #if !os(Windows)
        public class func makeReadSource(fileDescriptor: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceRead { fatalError() }
    #endif
    #if !os(Windows)
        public class func makeWriteSource(fileDescriptor: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceWrite { fatalError() }
    #endif
    #if !os(Windows)
        public class func makeSignalSource(signal: Int32, queue: DispatchQueue? = nil) -> any DispatchSourceSignal { fatalError() }
    #endif
    public class func makeUserDataAddSource(queue: DispatchQueue? = nil) -> any DispatchSourceUserDataAdd { fatalError() }
    public class func makeUserDataOrSource(queue: DispatchQueue? = nil) -> any DispatchSourceUserDataOr { fatalError() }
    public class func makeUserDataReplaceSource(queue: DispatchQueue? = nil) -> any DispatchSourceUserDataReplace { fatalError() }
}
#if canImport(ObjectiveC)
    public func __dispatch_queue_get_label(_ queue: DispatchQueue?) -> UnsafePointer<CChar> { fatalError() }
#endif
