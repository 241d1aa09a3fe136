import Foundation
import SourceAudit

@main
struct Audit {
    static func main() {
        let command = AuditCommand(
            isTerminal: isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil,
            showsProgress: isatty(STDERR_FILENO) == 1,
            write: { try StandardStreams.writeOutput($0) }, writeError: StandardStreams.writeError)
        exit(command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
