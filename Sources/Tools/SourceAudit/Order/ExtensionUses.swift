/// The uses of members that the code base adds to system types. `extension NSLock { init(name: String) }` changes with the
/// last lock that is made by it.
struct ExtensionUses {
    /// A member of a system type; for an initialiser, its first label.
    private struct Member: Hashable {
        let type: SystemType
        let name: Word
    }

    private var homes: [Member: Set<Int>] = [:]
    private var users: [Member: [Int: Int]] = [:]
    /// The files that conform a system type to a protocol of the code base, and the files that name the type. Any of
    /// these can pass a value of the type to a parameter of the protocol.
    private var conformances: [SystemType: Set<Int>] = [:]
    private var namers: [SystemType: [Int: Int]] = [:]

    /// Reads the extensions and the uses of a file.
    mutating func add(_ matcher: FileMatcher) {
        let (file, codeBase) = (matcher.file, matcher.codeBase)
        guard file.language == .swift else { return }
        for declaration in matcher.declarations.types where declaration.kind == .extension && !declaration.isPrivate {
            guard let type = codeBase.systemType(declaration.name), !codeBase.declaresClass(declaration.name) else {
                continue
            }
            readMembers(of: declaration.scope, type, file)
            if declaration.supers.contains(where: { codeBase.isProtocol($0.name) }) {
                conformances[type, default: []].insert(file.number)
            }
        }
        let names = codeBase.namesInExtensions
        for index in file.tokens.indices where file[index - 1] == .dot && names.contains(file.word(index)) {
            guard let result = matcher.typer.receiver(ofDot: index - 1), let type = matcher.typer.systemType(result)
            else { continue }
            use(type, file.word(index), in: file)
        }
        for (index, type) in matcher.typeNames {
            namers[type, default: [:]][file.number, default: 0] += 1
            if file[index + 1] == .openParen, file[index + 3] == .colon { use(type, file.word(index + 2), in: file) }
        }
    }

    private mutating func readMembers(of scope: Int, _ type: SystemType, _ file: SourceFile) {
        for member in file.outline.scopes where member.parent == scope && member.kind == .function {
            let head = member.head
            guard !file.hasModifier(.private, before: head), !file.hasModifier(.fileprivate, before: head) else {
                continue
            }
            let name = file[head] == .initializer ? head + 2 : head + 1
            homes[Member(type: type, name: file.word(name)), default: []].insert(file.number)
        }
    }

    private mutating func use(_ type: SystemType, _ name: Word, in file: SourceFile) {
        users[Member(type: type, name: name), default: [:]][file.number, default: 0] += 1
    }

    /// The files whose members each file uses, with the number of uses, among files that have something to move.
    func edges(between changes: Set<Int>) -> [Int: [Int: Int]] {
        var edges: [Int: [Int: Int]] = [:]
        func add(_ homes: Set<Int>, _ users: [Int: Int]?) {
            guard homes.count == 1, let home = homes.first, changes.contains(home) else { return }
            for (user, count) in users ?? [:] where user != home && changes.contains(user) {
                edges[user, default: [:]][home, default: 0] += count
            }
        }
        for (member, homes) in homes { add(homes, users[member]) }
        for (type, homes) in conformances { add(homes, namers[type]) }
        return edges
    }
}
