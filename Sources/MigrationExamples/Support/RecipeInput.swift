/// What a recipe works on. Both sides of a recipe get an equal one.
public struct RecipeInput: Sendable {
    /// The folder with the user's files.
    public let folder: InputFolder
    /// The first of the files: what a recipe looks into that shows a pattern, not what it does for a whole folder.
    public let sample: [InputFile]
    /// Tells the legacy side to stop. The ported side needs none: its task is cancelled.
    public let cancellation: CancellationSignal

    /// Makes an input that nothing cancels, unless a signal is given.
    public init(_ folder: InputFolder, cancellation: CancellationSignal = CancellationSignal()) {
        self.folder = folder
        sample = Array(folder.files.prefix(500))
        self.cancellation = cancellation
    }

    /// The files of the folder, in the order of their paths.
    public var files: [InputFile] { folder.files }
}
