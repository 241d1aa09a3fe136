import CTools

extension IndexStore {
    /// A type or protocol, and a class or protocol that it inherits from or conforms to.
    struct Inheritance {
        let derived: String
        let base: String
        let baseName: String
    }

    /// Calls `body` for each name in the inheritance lists of a record's types.
    func forEachInheritance(inRecord name: String, _ body: @escaping (Inheritance) -> Void) {
        withRecord(name) { record, functions in
            let visitor = Box((functions, body))
            withExtendedLifetime(visitor) {
                _ = functions.occurrences(record, Unmanaged.passUnretained(visitor).toOpaque()) { context, occurrence in
                    // The box outlives the call that it is passed to.
                    let (functions, body) = Unmanaged<Box<(IndexFunctions, (Inheritance) -> Void)>>
                        .fromOpaque(context!).takeUnretainedValue().value
                    if functions.occurrence_roles(occurrence) & isBase != 0 {
                        let symbol = functions.occurrence_symbol(occurrence)
                        let (base, name) = (text(functions.symbol_usr(symbol)), text(functions.symbol_name(symbol)))
                        for derived in derivedTypes(occurrence, functions) {
                            body(Inheritance(derived: derived, base: base, baseName: name))
                        }
                    }
                    return true
                }
            }
        }
    }
}

/// The role of a name in an inheritance list, and of the relation to its base.
private let isBase: UInt64 = 1 << 10

/// The symbols of the types that inherit from the symbol of an occurrence.
private func derivedTypes(_ occurrence: IndexReference?, _ functions: IndexFunctions) -> [String] {
    let visitor = Box((functions, [String]()))
    withExtendedLifetime(visitor) {
        _ = functions.relations(occurrence, Unmanaged.passUnretained(visitor).toOpaque()) { context, relation in
            // The box outlives the call that it is passed to.
            let box = Unmanaged<Box<(IndexFunctions, [String])>>.fromOpaque(context!).takeUnretainedValue()
            let functions = box.value.0
            if functions.relation_roles(relation) & isBase != 0 {
                box.value.1.append(text(functions.symbol_usr(functions.relation_symbol(relation))))
            }
            return true
        }
    }
    return visitor.value.1
}
