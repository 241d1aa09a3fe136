/// The parsed arguments of the audit.
struct Arguments {
    enum Output: String {
        case table, json, sarif, xcode, github
    }

    /// An error that explains why an argument is invalid.
    struct Failure: Error, Equatable {
        let message: String
    }

    var paths: [String] = []
    /// Names or paths of files and folders that are not read.
    var excluded: [String] = []
    var output = Output.table
    var fixes = false
    /// Whether to apply the changes. `writesUnsafely` includes files that git could not restore.
    var writesFixes = false
    var writesUnsafely = false
    /// Whether `--fix` may raise the platforms of manifests.
    var raisesPlatforms = false
    var html: String?
    var baseline: String?
    var mustBeDone = false
    var compared: (old: String, new: String)?
    var indexStores: [String] = []
    var indexLibrary: String?
    var usesIndex = true
    /// Whether the table lists all findings, waves and notes.
    var isList = false
    /// Whether the output is coloured; nil to colour it on a terminal only.
    var isColored: Bool?
    var wantsHelp = false
    var wantsRules = false

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        func value(of option: String) throws -> String {
            // An option is not a value. A file whose name begins with a hyphen is passed as `./--name`.
            guard let value = rest.first, !value.hasPrefix("-") else {
                throw Failure(message: "\(option) needs a value")
            }
            rest.removeFirst()
            return value
        }
        var isOver = false
        var outputs: Set<Output> = []
        while let argument = rest.popFirst() {
            if isOver || !argument.hasPrefix("-") || argument == "-" {
                paths.append(argument)
                continue
            }
            switch argument {
            case "--": isOver = true
            case "--json": outputs.insert(.json)
            case "--sarif": outputs.insert(.sarif)
            case "--format":
                let name = try value(of: argument)
                guard let output = Output(rawValue: name) else { throw Failure(message: "unknown format \(name)") }
                outputs.insert(output)
            case "--exclude": excluded.append(try value(of: argument))
            case "--fix": fixes = true
            case "--write": writesFixes = true
            case "--force": writesUnsafely = true
            case "--raise-platforms": raisesPlatforms = true
            case "--html": html = try value(of: argument)
            case "--baseline": baseline = try value(of: argument)
            case "--done": mustBeDone = true
            case "--compare": compared = (try value(of: argument), try value(of: argument))
            case "--index-store": indexStores.append(try value(of: argument))
            case "--index-library": indexLibrary = try value(of: argument)
            case "--no-index": usesIndex = false
            case "--list": isList = true
            case "--color": isColored = true
            case "--no-color": isColored = false
            case "-h", "--help": wantsHelp = true
            default: throw Failure(message: "unknown option \(argument)")
            }
        }
        wantsRules = paths == ["rules"]
        if paths.isEmpty { paths = ["."] }
        guard outputs.count < 2 else { throw Failure(message: "only one output format may be given") }
        if let first = outputs.first { output = first }
        let reports = html != nil || baseline != nil || compared != nil || mustBeDone || !outputs.isEmpty
        guard !fixes || !reports else { throw Failure(message: "--fix writes no report") }
        guard fixes || !writesFixes else { throw Failure(message: "--write requires --fix") }
        guard fixes || !raisesPlatforms else { throw Failure(message: "--raise-platforms requires --fix") }
        guard writesFixes || !writesUnsafely else { throw Failure(message: "--force requires --write") }
    }

    static let help = """
        usage: audit [PATH…] [options]
               audit [PATH…] --fix [--write]
               audit --compare OLD.json NEW.json
               audit rules

        Reads the Swift and Objective-C sources below the paths (by default, the current folder). Lists the code that
        should move to TaskOperations, with the recipe for each line and the order in which to move the files. `rules`
        prints twenty rules of thumb for code with TaskOperations; a folder of that name is ./rules.

          --format FORMAT         table (the default), json (the article Audit has its schema), sarif (2.1.0), or
                                  a line for each finding: xcode, for a build phase, or github, for a workflow
          --json, --sarif         the same as --format json, --format sarif
          --html FILE             also writes the report to FILE, as one HTML page
          --list                  prints every site, wave and note, and not only one screen
          --exclude PATH          skips a file or folder, by its path or its name; may be repeated
          --baseline FILE         lists findings that FILE, an earlier --json report, does not contain; fails if any
          --done                  fails if a finding is left that no comment allows: // audit:allow(pattern) reason
          --compare OLD NEW       lists the findings that disappeared or appeared between two --json reports
          --fix                   prints a diff of changes that keep all behaviour, and the findings that it leaves
          --write                 applies these changes, if git tracks the files and they have no changes
          --force                 applies them anyway
          --raise-platforms       lets rewrites raise the platforms of Package.swift
          --index-store PATH      an index store of the compiler (default: the one in .build; for Xcode,
                                  Index.noindex/DataStore in its DerivedData); may be repeated
          --index-library PATH    the path of libIndexStore (default: that of the toolchain)
          --no-index              uses names alone, without an index
          --color, --no-color     prints with or without colours (default: colours in a terminal)

        exit status: 0 for success, 1 if --done or --baseline reports findings, 2 for a wrong option, 3 if a path or
        a file could not be read, or a file or the output could not be written
        """
}
