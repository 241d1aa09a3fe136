import TestSupport
import Testing

/// One scenario for each behaviour that this library shares with Foundation, run on `OperationQueue` and on
/// `TaskOperationQueue`.
///
///
/// The scenarios run one after another, because the bodies of Foundation operations block threads, of which there are
/// few.
@Suite(.inTurns, .serialized, .endsInTime)
enum ParityTests {}
