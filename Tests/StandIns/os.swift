// swift-format-ignore-file
// A stand-in for the part of `os` that traces use: the documentation of OSSignposter, OSSignpostID and
// OSSignpostIntervalState (iOS 15, macOS 12). The documentation lists no conformance of OSSignpostIntervalState to Sendable;
// both are checked.
public struct OSSignposter: Sendable {
    public func makeSignpostID() -> OSSignpostID { fatalError() }
    public func beginInterval(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata) -> OSSignpostIntervalState { fatalError() }
    public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata) {}
    public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata) {}
}
public struct OSSignpostID: Sendable { public static let exclusive = OSSignpostID() }
#if OBSERVATION_IS_SENDABLE
    public final class OSSignpostIntervalState: @unchecked Sendable {}
#else
    public final class OSSignpostIntervalState {}
    @available(*, unavailable)
    extension OSSignpostIntervalState: @unchecked Sendable {}
#endif
public struct SignpostMetadata: ExpressibleByStringInterpolation, ExpressibleByStringLiteral {
    public init(stringLiteral: String) {}
    public struct StringInterpolation: StringInterpolationProtocol {
        public init(literalCapacity: Int, interpolationCount: Int) {}
        public mutating func appendLiteral(_ literal: String) {}
        public mutating func appendInterpolation(_ argument: @autoclosure @escaping () -> String) {}
    }
    public init(stringInterpolation: StringInterpolation) {}
}
