import Foundation

/// A report as one self-contained page, which needs no network and no other file.
struct HTMLPage {
    let text: String

    init(_ report: Report) {
        let data = Contents(
            report: report, recipes: GuideText.sections(Set(report.patterns.compactMap(\.recipe))),
            tests: Set(report.findings.map(\.file)).filter(Place.isTest).sorted(),
            folder: FileManager.default.currentDirectoryPath)
        text = Self.document
            .replacing("/*STYLE*/", with: Self.style)
            .replacing("/*SCRIPT*/", with: Self.script + Self.drawing)
            .replacing("/*DATA*/", with: Self.json(data))
    }

    private struct Contents: Encodable {
        let report: Report
        let recipes: [String: String]
        /// The test files that have findings.
        let tests: [String]
        /// The folder to which paths are relative.
        let folder: String
    }

    /// JSON that contains no end tag, so that a script element can contain it.
    private static func json(_ contents: Contents) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The report consists of strings and numbers, which can always be encoded.
        let data = (try? encoder.encode(contents)) ?? Data("null".utf8)
        // The page shows the escapes of characters that change the direction of text.
        return String(decoding: data, as: UTF8.self).shown.replacing("\\u{", with: "\\\\u{")
            .replacing("<", with: "\\u003C")
    }

    private static let document = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Code to move, in order</title>
        <style>/*STYLE*/</style>
        </head>
        <body>
        <header>
          <h1>Code to move, in order</h1>
          <p id="source"></p>
          <div id="tiles"></div>
        </header>
        <section>
          <h2>Where to begin</h2>
          <div id="start"></div>
        </section>
        <section>
          <h2>Waves</h2>
          <p class="hint">Begin with wave 1: no other remaining file uses its files. Each box is a file; its width is the
            effort. Select a file to see its uses and its findings.</p>
          <div id="picture"></div>
          <div id="rings"></div>
        </section>
        <section>
          <h2>Findings</h2>
          <form id="filters" onsubmit="return false">
            <input id="search" type="search" placeholder="search files, lines, patterns" aria-label="search">
            <select id="family" aria-label="family"></select>
            <select id="effort" aria-label="effort">
              <option value="">any effort</option><option value="1">by rote</option>
              <option value="2">callers change</option><option value="3">needs thought</option>
            </select>
            <select id="wave" aria-label="wave"></select>
            <select id="kind" aria-label="certainty and recipe">
              <option value="">all</option><option value="certain">certain</option>
              <option value="likely">likely</option><option value="none">without a recipe</option>
              <option value="allowed">allowed by comments</option>
              <option value="product">not in tests</option><option value="tests">in tests</option>
            </select>
            <select id="opener" aria-label="what links open">
              <option value="">links open files</option><option value="vscode">links open VS Code</option>
              <option value="idea">links open IDEA</option><option value="txmt">links open TextMate, BBEdit</option>
            </select>
            <button type="button" id="clear">clear</button>
            <span id="count" role="status"></span>
          </form>
          <div id="columns">
            <div>
              <div id="list"></div>
              <p id="pages"><button type="button" id="before">before</button> <span id="page"></span>
                <button type="button" id="after">after</button></p>
            </div>
            <aside id="detail"><p class="hint">Select a line to see its recipe.</p></aside>
          </div>
        </section>
        <section id="notes"></section>
        <script type="application/json" id="data">/*DATA*/</script>
        <script>/*SCRIPT*/</script>
        </body>
        </html>

        """
}
