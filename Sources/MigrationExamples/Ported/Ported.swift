/// The recipes as they are after the move: this library, in Swift 6 mode. Each is a function of the same name as
/// its legacy side, and is in a file of the same name.
public enum Ported {}
