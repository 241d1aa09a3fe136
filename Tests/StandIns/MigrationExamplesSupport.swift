// swift-format-ignore-file
// A stand-in for the support code of the recipes. It contains the types that old code with branches for Objective-C
// names.
public struct InputFile: Sendable {
    public let size: Int
    public func lineCount() -> Int { 0 }
}
public struct RecipeInput: Sendable {
    public let files: [InputFile]
    public let sample: [InputFile]
}
public struct RecipeResult: Sendable {
    public init(_ text: String) {}
}
public final class Journal: Sendable {
    public init() {}
    public func write(_ line: String) {}
    public var result: RecipeResult { RecipeResult("") }
}
public final class SharedCount: Sendable {
    public init() {}
    public func add(_ amount: Int) {}
    public var total: Int { 0 }
}
