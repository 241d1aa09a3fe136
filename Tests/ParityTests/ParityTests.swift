import TaskOperationsExpectations
import Testing

/// One scenario each for what is the same in Foundation, played with `OperationQueue` and with ours.
///
/// One after the other, because bodies of Foundation block threads, of which there are few.
@Suite(.inTurns, .serialized, .timeLimit(.minutes(10)))
enum ParityTests {}
