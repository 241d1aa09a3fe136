import TaskOperationsExpectations
import Testing

/// One scenario for each behaviour that Foundation shares, with `OperationQueue` and with ours.
///
/// One after the other, because bodies of Foundation block threads, of which there are few.
@Suite(.inTurns, .serialized, .timeLimit(.minutes(10)))
enum ParityTests {}
