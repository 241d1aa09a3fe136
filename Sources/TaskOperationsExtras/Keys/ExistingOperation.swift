import TaskOperations

/// The rule for a request of a key that has an operation already.
///
/// | the existing operation | `.join` | `.replaceIfQueued` | `.replace` | `.rerunOnce` |
/// |---|---|---|---|---|
/// | has not started | is joined | is joined, gets the new body | is joined, gets the new body | is joined, gets the new body |
/// | executes | is joined | is joined | is cancelled; a new one follows | continues; a new one follows |
/// | executes, was cancelled | a new one follows | a new one follows | a new one follows | a new one follows |
/// | has finished, its value is kept | is joined | a new one is added | a new one is added | a new one is added |
///
/// A new operation that follows another one starts after the other one has ended. So two bodies of a key do not execute
/// at once. If the new operation ends before its start, the key belongs to the other one again.
public enum ExistingOperation: Sendable {
    /// Joins the operation, and ignores the new body.
    case join
    /// Gives the new body to an operation that has not started. All its requests receive the outcome of the new body.
    case replaceIfQueued
    /// Also cancels an operation that executes. Its requests receive the outcome of its body, usually
    /// `CancellationError`.
    case replace
    /// Also lets an operation that executes continue, and runs the new body once after it. Further requests give their
    /// bodies to this second operation until it starts.
    case rerunOnce
}
