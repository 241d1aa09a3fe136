/// The parts of a type that the audit uses: its unqualified name, and the number of collections around it. An optional
/// counts as its wrapped type.
struct TypeReference: Hashable {
    var name: Word
    var layers: UInt8 = 0

    /// The element of a collection. A type that is not a collection is returned unchanged.
    var element: TypeReference { TypeReference(name: name, layers: layers == 0 ? 0 : layers - 1) }

    var collection: TypeReference { TypeReference(name: name, layers: min(layers + 1, 7)) }
}

extension SourceFile {
    /// Reads the type at an index. Returns nil for functions and tuples; `end` is the index after the type.
    func type(at start: Int) -> (type: TypeReference, end: Int)? {
        var layers: UInt8 = 0
        var index = start
        for _ in 0..<16 {
            switch self[index] {
            case .at:
                let hasArguments = ["convention", "isolated", "available"].contains(text(index + 1))
                index += hasArguments && self[index + 2] == .openParen ? partner(index + 2) + 1 - index : 2
            case .inout, .any, .someType, .borrowing, .consuming, .sending, .escaping, .isolated, .nonisolated:
                index += 1
            case .openSquare:
                layers += 1
                index += 1
                if let colon = dictionaryColon(index) { index = colon + 1 }
            case .openParen:
                let close = partner(index)
                if self[close + 1] == .arrow || self[close + 1] == .throws || self[close + 1] == .async { return nil }
                index += 1
            case .array, .contiguousArray, .setType:
                guard self[index + 1] == .less else { return nil }
                layers += 1
                index += 2
            case .optionalType:
                guard self[index + 1] == .less else { return nil }
                index += 2
            case .dictionary: return nil
            default:
                guard isWord(index) else { return nil }
                let isSystem = self[index] == .foundation || self[index] == .dispatch
                while self[index + 1] == .dot, isWord(index + 2) { index += 2 }
                // `Foundation.Thread` is not the `Thread` of the code base.
                let name = isSystem ? vocabulary["Foundation." + text(index)] : word(index)
                return (TypeReference(name: name, layers: layers), index + 1)
            }
        }
        return nil
    }

    /// The colon of `[Key: Value]` if the key is one word and the bracket is before `index`.
    func dictionaryColon(_ index: Int) -> Int? {
        var index = index
        while isWord(index), self[index + 1] == .dot { index += 2 }
        return isWord(index) && self[index + 1] == .colon ? index + 1 : nil
    }
}
