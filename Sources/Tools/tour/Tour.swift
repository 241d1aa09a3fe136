import MigrationExamplesSupport

/// Runs both sides of recipes on a folder, one after the other.
struct Tour {
    let recipes: [Recipe]
    let console: Console
    let tally: Tally
    let progress: Progress

    /// Runs the recipes. If the task is cancelled, the result contains the recipes whose two sides have ended.
    func run(over folder: InputFolder) async -> [Comparison] {
        var reported = Set(folder.problems)
        report(folder.problems)
        progress.begin("reading the files")
        folder.warmUp()

        var comparisons: [Comparison] = []
        for (index, recipe) in recipes.enumerated() {
            let input = RecipeInput(folder)
            let place = "\(index + 1) of \(recipes.count), \(recipe.name)"
            progress.begin("\(place), legacy")
            let legacy = await SideRun(input: input, progress: progress).legacy(recipe.legacy)
            progress.begin("\(place), ported")
            let ported = await SideRun(input: input, progress: progress).ported(recipe.ported)
            if Task.isCancelled { break }
            comparisons.append(Comparison(recipe: recipe.name, legacy: legacy, ported: ported))
            tally.add()
            report((legacy.unreadable + ported.unreadable).filter { reported.insert($0).inserted })
        }
        return comparisons
    }

    private func report(_ problems: [FileProblem]) {
        for problem in problems { console.report(problem.description) }
    }
}
