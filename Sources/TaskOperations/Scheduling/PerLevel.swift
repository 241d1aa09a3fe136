/// A value for each level, in a field of its own: an array is memory to allocate, and an index into a vector is a call.
struct PerLevel<Value> {
    private var background: Value
    private var low: Value
    private var medium: Value
    private var high: Value
    private var userInteractive: Value

    init(_ value: Value) {
        (background, low, medium, high, userInteractive) = (value, value, value, value, value)
    }

    subscript(level: PriorityLevel) -> Value {
        @inline(__always)
        get {
            switch level {
            case .background: background
            case .low: low
            case .medium: medium
            case .high: high
            case .userInteractive: userInteractive
            }
        }
        @inline(__always)
        _modify {
            switch level {
            case .background: yield &background
            case .low: yield &low
            case .medium: yield &medium
            case .high: yield &high
            case .userInteractive: yield &userInteractive
            }
        }
    }
}

extension PerLevel: Sendable where Value: Sendable {}
extension PerLevel: Equatable where Value: Equatable {}
extension PerLevel: Hashable where Value: Hashable {}
