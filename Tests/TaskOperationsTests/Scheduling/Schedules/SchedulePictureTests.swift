import Foundation
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The picture of a failing schedule", .endsInTime)
struct SchedulePictureTests {
    /// The members of `schedule.json` that the article describes.
    private struct Document: Decodable {
        struct Named: Decodable {
            let number: Int
            let name: String?
            let created: String?
        }
        struct Step: Decodable {
            let step: Int
            let nanoseconds: Int
            let task: Int?
            let changes: [Change]?
            let events: [Event]
        }
        struct Change: Decodable, Equatable {
            let change: String
            var task: Int?
            var until: Int?
            var nanoseconds: Int?
        }
        struct Event: Decodable {
            let event: String
            let task: Int?
            let actor: Int?
            let nanoseconds: Int?
        }
        let version: Int
        let failure: String
        let schedule: String
        let number: Int
        let tasks: [Named]
        let actors: [Named]
        let steps: [Step]

        var changes: [Change] { steps.flatMap { $0.changes ?? [] } }
    }

    private func document(of failure: ScheduleFailure) throws -> Document {
        try JSONDecoder().decode(Document.self, from: Data(failure.json.utf8))
    }

    private func count(_ text: String, in page: String) -> Int { page.ranges(of: text).count }

    @Test("The JSON contains the tasks, the actors, the steps and the delay of a lost update")
    func json() throws {
        let found = try #require(failure(of: Schedules(only: "3-"), loseUpdate))
        let document = try self.document(of: found)
        #expect(document.version == 1 && document.number == 1 && document.schedule == "3-")
        #expect(document.failure == "The body threw an error: Fault()")
        #expect(document.tasks.map(\.number) == [1, 2] && document.tasks.map(\.name) == [nil, "other"])
        #expect(document.actors.map(\.name) == ["Counter", "Fee"])
        #expect(document.steps.map(\.step) == Array(0..<document.steps.count))
        #expect(document.changes == [Document.Change(change: "delay", task: 1)])
        #expect(document.steps[3].task == 2 && document.steps[3].changes?.count == 1)
        #expect(document.steps[0].events.map(\.event) == ["creates", "enters"])
        #expect(document.steps[0].events[0].task == 2 && document.steps[0].events[1].actor == 1)
    }

    @Test("The JSON contains the line that created a task, on Linux", .enabled(if: isLinux))
    func lines() throws {
        let found = try #require(failure(of: Schedules(only: "3-"), loseUpdate))
        #expect(try document(of: found).tasks[1].created == "LostUpdate.swift:25")
        #expect(found.html.contains("Counter.add(_:) (LostUpdate.swift:12)"))
    }

    @Test("The JSON and the page contain moves of the time and cancellations", arguments: ["2t", "2c2"])
    func faults(_ schedule: String) throws {
        let found = try #require(
            failure(of: Schedules(only: schedule)) {
                let task = Task { try await Task.sleep(for: .seconds(5)) }
                await Task.yield()
                _ = await task.result
                throw Fault()
            })
        let isTime = schedule == "2t"
        let change =
            isTime
            ? Document.Change(change: "time", nanoseconds: 5_000_000_000)
            : Document.Change(change: "cancellation", task: 2)
        let document = try self.document(of: found)
        #expect(document.changes == [change])
        #expect(document.steps[1].events.last?.nanoseconds == 5_000_000_000)
        #expect(found.html.contains(isTime ? "⏱ the time moves to 5.0 seconds" : "⚠ is cancelled"))
    }

    @Test("The page has the boxes of a lost update in their columns, the held task, the arrow and the cause")
    func page() throws {
        let page = try #require(failure(of: Schedules(only: "3-"), loseUpdate)).html
        // The creation of task 2, and its first step.
        #expect(page.contains("<i class=\"arrow new\" style=\"grid-area:2/2/auto/4;--n:2\">"))
        #expect(page.contains("<div class=\"box none\" style=\"grid-area:6/3\">"))
        // The test is held from the change to the write that loses the update.
        #expect(page.contains("<div class=\"box change\" style=\"grid-area:5/2\">"))
        #expect(page.contains("<i class=\"line held\" style=\"grid-area:5/2/10\">"))
        #expect(page.contains("<div class=\"box a1\" style=\"grid-area:10/2\">"))
        #expect(page.contains("<span class=\"spoken\">task 2: </span>"))
        #expect(page.contains("✘ <bdi>The body threw an error: Fault()</bdi>"))
        #expect(count("class=\"task\"", in: page) == 2 && count("<details>", in: page) == 0)
    }

    @Test("Actors of one type have different numbers and colours")
    func actors() throws {
        let found = try #require(
            failure(of: Schedules(only: "usual")) {
                let counters = [Counter(), Counter()]
                for counter in counters { await counter.increment() }
                if await counters[0].value == 1 { throw Fault() }
            })
        #expect(try document(of: found).actors.map(\.name) == ["Counter", "Counter 2"])
        #expect(found.html.contains("class=\"box a2\"") && found.html.contains(".a2{--h:347}"))
    }

    @Test("A task that waits forever has a box that says so", .enabled(if: isLinux))
    func waits() throws {
        var schedules = Schedules(1)
        schedules.patience = .milliseconds(1)
        let found = try #require(failure(of: schedules) { await Gate().pass() })
        #expect(count("</span>waits forever", in: found.html) == 1)
    }

    private struct Hostile: Error, CustomStringConvertible { let description: String }

    /// The failure of a task with a name, by an error with this description.
    private func failing(_ name: String) throws -> ScheduleFailure {
        try #require(
            failure(of: Schedules(only: "usual")) {
                await Task(name: name) { await Task.yield() }.value
                throw Hostile(description: name)
            })
    }

    @Test(
        "Hostile names and errors add no element to the page, and stay valid JSON",
        arguments: [
            "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "<!--", "'&amp;<b>\n\u{2028}",
            "\u{202E}right to left", "\u{1}\u{7F}\\u0022\u{FFFE}", String(repeating: "long ", count: 10_000),
            "<\u{301}script>", "",
        ])
    func hostile(_ name: String) throws {
        func elements(_ page: String) -> [Substring] {
            page.unicodeScalars.split(separator: "<").dropFirst().map {
                Substring($0.prefix { $0 != " " && $0 != ">" })
            }
        }
        let found = try failing(name)
        #expect(elements(found.html) == elements(try failing("plain").html))
        #expect(!found.html.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(found.html.utf8.count < 12_000 + found.description.utf8.count)
        #expect(try document(of: found).tasks[1].name == name)
    }

    /// The failure of tasks that take turns.
    private func turns(tasks: Int, rounds: Int) throws -> ScheduleFailure {
        try #require(
            failure(of: Schedules(only: "usual")) {
                let (counter, fee) = (Counter(), Fee())
                let tasks = (0..<tasks).map { _ in
                    Task {
                        for _ in 0..<rounds {
                            await counter.add(fee)
                            await Task.yield()
                        }
                    }
                }
                for task in tasks { await task.value }
                throw Fault()
            })
    }

    @Test("Sizes are linear in the steps and not multiplied by the tasks, and a long schedule has two pictures")
    func growth() throws {
        let (few, many) = (try turns(tasks: 30, rounds: 5), try turns(tasks: 30, rounds: 15))
        let steps = try (document(of: few).steps.count, document(of: many).steps.count)
        let ratio = Double(steps.1) / Double(steps.0)
        #expect(steps.0 > 500 && ratio > 2.5)
        #expect(Double(many.json.utf8.count) < 1.2 * ratio * Double(few.json.utf8.count))
        #expect(Double(many.html.utf8.count) < 1.2 * ratio * Double(few.html.utf8.count))
        #expect(few.html.utf8.count < 500 * steps.0)
        #expect(count("class=\"grid\"", in: few.html) == 2)
        #expect(few.html.contains("steps of the usual order"))
        // The steps of a very long schedule are only in the JSON.
        let endless = try turns(tasks: 30, rounds: 20)
        #expect(try document(of: endless).steps.count > 3_000)
        #expect(count("class=\"grid\"", in: endless.html) == 1 && endless.html.utf8.count < 30_000)
    }
}
