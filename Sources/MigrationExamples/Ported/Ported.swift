/// The recipes after the migration: they use this library in Swift 6 mode. Each recipe is a function in a file of its
/// own. Both have the same names as on the legacy side.
public enum Ported {}
