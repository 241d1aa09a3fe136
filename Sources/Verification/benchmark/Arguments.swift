/// The parsed command line.
struct Arguments: Sendable {
    enum Action: Sendable {
        case run
        case list
        case help
        /// Writes the chart of simulated capacities to a file.
        case drawCapacity(path: String)
        /// Judges a change by paired runs of two executables.
        case compare(old: String, new: String)
    }

    var action = Action.run
    var cases = Catalogue.quickCases
    /// The subjects to measure; nil for all.
    var subjects: Set<SubjectName>?
    /// The factor for the size of every case.
    var scale = 1.0
    /// The number of rounds for each subject; nil for the default of the size.
    var rounds: Int?
    /// The timeout for each subject, for a quick overview; nil for all rounds.
    var secondsPerSubject: Double?
    var isMarkdown = false
    var jsonPath: String?
    var chartPath: String?
    /// The number of pairs of runs of a comparison; nil for the default.
    var pairs: Int?
    /// The options for the measurements, for other executables of this benchmark.
    private(set) var measuringOptions: [String] = []

    static let usage = """
        usage: benchmark [--all | --case NAME[,NAME…]] [--subject NAME[,NAME…]] [--scale N] [--rounds N]
                         [--json FILE] [--markdown] [--chart FILE] [--list]
               benchmark --compare OLD NEW [--pairs N] [--all | --case …] [--subject …] [--scale N] [--rounds N]
               benchmark --capacity-chart FILE

        Without arguments, measures most cases for two minutes in total.

          --all       measure every case, in all rounds; this takes more than half an hour
          --case      measure only these cases, in all rounds; --list prints their names
          --subject   measure only these subjects
          --scale     multiply the number of operations of every case by N (default 1; use 0.01 for a quick run)
          --rounds    the maximum number of rounds for each subject (default 5; 15 for up to 10,000 operations)
          --json      write the figures to a file, after each case; on standard output they replace the table
          --markdown  print the table of README.md instead of the full one
          --chart     draw the figures of `growth` into an SVG file
          --list      print the names of the cases
          --compare   run two executables of this benchmark in turn, and print for each case, size and subject whether
                      NEW is faster or slower than OLD
          --pairs     the number of runs of each executable (default 10, at least 6)
          --capacity-chart
                      measure nothing, and draw simulations of adapted capacities into an SVG file
        """

    init(_ words: some Sequence<String>) throws(ArgumentError) {
        var words = words.makeIterator()
        var (isAll, namesCases) = (false, false)
        func measuringValue(of option: String) throws(ArgumentError) -> String {
            let value = try words.value(of: option)
            measuringOptions += [option, value]
            return value
        }
        while let option = words.next() {
            switch option {
            case "--all":
                isAll = true
                measuringOptions.append(option)
            case "--case":
                cases = try Self.cases(named: try measuringValue(of: option))
                namesCases = true
            case "--subject": subjects = try Self.subjects(named: try measuringValue(of: option))
            case "--scale": scale = try Self.scale(try measuringValue(of: option))
            case "--rounds": rounds = try Self.rounds(try measuringValue(of: option))
            case "--json": jsonPath = try words.value(of: option)
            case "--chart": chartPath = try words.value(of: option)
            case "--markdown": isMarkdown = true
            case "--list": action = .list
            case "--compare":
                action = .compare(old: try words.value(of: option), new: try words.value(of: option))
            case "--pairs": pairs = try Self.pairs(try words.value(of: option))
            case "--capacity-chart": action = .drawCapacity(path: try words.value(of: option))
            case "--help", "-h": action = .help
            default: throw ArgumentError("\(option) is not an option; allowed: \(Self.options)")
            }
        }
        if isAll, namesCases { throw ArgumentError("--all and --case cannot be given together") }
        if isAll { cases = Catalogue.cases }
        if !isAll, !namesCases, rounds == nil { secondsPerSubject = 1 }
        if chartPath != nil, !cases.contains(where: { $0.name == Chart.caseName }) {
            throw ArgumentError(
                "--chart draws the case \(Chart.caseName), which is left out; add --case \(Chart.caseName)")
        }
        if case .compare = action {
            if isMarkdown || jsonPath != nil || chartPath != nil {
                throw ArgumentError("--compare prints a table; --json, --markdown and --chart are not allowed with it")
            }
        } else if pairs != nil {
            throw ArgumentError("--pairs is allowed only with --compare")
        }
    }

    private static let options =
        "--all --case --subject --scale --rounds --json --markdown --chart --list --compare --pairs --capacity-chart "
        + "--help"

    private static func cases(named list: String) throws(ArgumentError) -> [Case] {
        let names = list.split(separator: ",").map(String.init)
        let known = Catalogue.names
        for name in names where !known.contains(name) {
            throw ArgumentError("there is no case \(name); allowed: \(known.joined(separator: ", "))")
        }
        if names.isEmpty { throw ArgumentError("--case needs a name; allowed: \(known.joined(separator: ", "))") }
        return Catalogue.cases.filter { names.contains($0.name) }
    }

    private static func subjects(named list: String) throws(ArgumentError) -> Set<SubjectName> {
        var subjects: Set<SubjectName> = []
        for name in list.split(separator: ",") {
            guard let subject = SubjectName(rawValue: String(name)) else {
                let known = SubjectName.allCases.map(\.rawValue).joined(separator: ", ")
                throw ArgumentError("there is no subject \(name); allowed: \(known)")
            }
            subjects.insert(subject)
        }
        return subjects
    }

    private static func scale(_ word: String) throws(ArgumentError) -> Double {
        guard let scale = Double(word), scale > 0, scale <= 1000 else {
            throw ArgumentError("--scale \(word) is not allowed; it must be a number above 0 and at most 1000")
        }
        return scale
    }

    private static func rounds(_ word: String) throws(ArgumentError) -> Int {
        guard let rounds = Int(word), (1...1000).contains(rounds) else {
            throw ArgumentError("--rounds \(word) is not allowed; it must be a whole number from 1 to 1000")
        }
        return rounds
    }

    private static func pairs(_ word: String) throws(ArgumentError) -> Int {
        let least = MedianInterval.smallestCount
        guard let pairs = Int(word), (least...1000).contains(pairs) else {
            throw ArgumentError(
                "--pairs \(word) is not allowed; it must be a whole number from \(least) to 1000, because fewer pairs "
                    + "have no 95 % interval")
        }
        return pairs
    }
}

/// The error for invalid arguments, in one line.
struct ArgumentError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension IteratorProtocol<String> {
    fileprivate mutating func value(of option: String) throws(ArgumentError) -> String {
        guard let value = next(), !value.hasPrefix("--") else { throw ArgumentError("\(option) needs a value") }
        return value
    }
}
