/// Comments that allow findings: `// audit:allow(semaphore-lock) the C library calls back on this thread`.
///
/// The parentheses contain patterns or families; a reason must follow. The comment applies to its line, or, if it is
/// alone on its line, to the next line with code. `allow-file` applies to the whole file.
struct Allowances {
    private struct Allowance {
        let names: Set<String>
        let reason: String
        /// The line to which the comment applies; nil for the whole file.
        let line: Int?
        let writtenOn: Int
    }

    private var allowances: [Allowance] = []
    private(set) var notes: [Note] = []

    init(_ file: SourceFile) {
        for range in file.directives { read(file, range) }
    }

    private mutating func read(_ file: SourceFile, _ range: Range<Int>) {
        let text = String(decoding: file.bytes[range], as: UTF8.self)
        let line = file.line(at: range.lowerBound)
        func complain(_ message: String) { notes.append(Note(path: "\(file.path):\(line)", message: message)) }
        let verb = text.prefix { $0.isLetter || $0 == "-" }
        guard verb == "allow" || verb == "allow-file" else { return complain("audit:\(verb) means nothing") }
        var rest = text.dropFirst(verb.count)
        guard rest.first == "(", let end = rest.firstIndex(of: ")") else {
            return complain("audit:\(verb) does not say what: audit:\(verb)(pattern) reason")
        }
        let names = rest[rest.index(after: rest.startIndex)..<end].split { $0 == "," || $0 == " " }.map(String.init)
        rest = rest[rest.index(after: end)...]
        let reason = rest.drop { !$0.isLetter && !$0.isNumber }
        guard reason.contains(where: \.isLetter) else { return complain("audit:\(verb) gives no reason") }
        let families = Set(Pattern.Family.allCases.map(\.rawValue))
        for name in names where Patterns.byID[name] == nil && !families.contains(name) {
            complain("audit:\(verb): there is no pattern \(name)")
        }
        let target = verb == "allow-file" ? nil : file.lineMeant(byCommentAt: range.lowerBound)
        allowances.append(
            Allowance(names: Set(names), reason: String(reason), line: target, writtenOn: line))
    }

    /// Stores the reasons in the findings that comments allow, and notes comments that allow no finding.
    mutating func apply(to findings: inout [Finding], path: String) {
        var unused = Set(allowances.indices)
        for index in findings.indices {
            let finding = findings[index]
            for (place, allowance) in allowances.enumerated()
            where allowance.line == nil || allowance.line == finding.line {
                guard
                    allowance.names.contains(finding.pattern.id)
                        || allowance.names.contains(finding.pattern.family.rawValue)
                else { continue }
                findings[index].allowance = allowance.reason
                unused.remove(place)
            }
        }
        for place in unused.sorted() {
            notes.append(
                Note(
                    path: "\(path):\(allowances[place].writtenOn)", message: "the comment allows nothing that is there")
            )
        }
    }
}

extension SourceFile {
    /// The line to which a comment applies: its own, or that of the next token if the comment is alone on its line.
    func lineMeant(byCommentAt offset: Int) -> Int {
        var (low, high) = (0, tokens.count)
        while low < high {
            let middle = (low + high) / 2
            if Int(tokens[middle].start) < offset { low = middle + 1 } else { high = middle }
        }
        let own = line(at: offset)
        if low > 0, line(low - 1) == own { return own }
        return low < tokens.count ? line(low) : own
    }
}
