/// Elements in the order of adding, of which there is mostly one: that one needs no memory of its own.
enum Few<Element> {
    case none
    case one(Element)
    case several([Element])

    init() { self = .none }

    mutating func append(_ element: Element) {
        switch consume self {
        case .none: self = .one(element)
        case .one(let first): self = .several([first, element])
        case .several(var elements):
            elements.append(element)
            self = .several(elements)
        }
    }
}

extension Few: Sequence {
    struct Iterator: IteratorProtocol {
        fileprivate let few: Few
        private var index = 0

        fileprivate init(_ few: Few) { self.few = few }

        mutating func next() -> Element? {
            defer { index += 1 }
            switch few {
            case .none: return nil
            case .one(let element): return index == 0 ? element : nil
            case .several(let elements): return index < elements.count ? elements[index] : nil
            }
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}

extension Few: Sendable where Element: Sendable {}
