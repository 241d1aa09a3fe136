/// The recipes as they are before the move: Foundation and Dispatch, in Swift 5 mode. Each is a function of the same
/// name as its port, blocks the thread that calls it, and is in a file of the same name.
public enum Legacy {}
