import TaskOperationsTesting
import TestSupport
import Testing

extension ParityTests {
    @Suite("Rule 5: a dependent starts after all its dependencies are finished", .inTurns)
    struct DependencyRule {
        @Test("Across queues, while its own queue continues with others")
        func acrossQueues() async throws {
            let expected = ["ready: false", "another", "dependency ends", "dependent", "ready: true"]
            try await expectBoth(toSay: expected) { stage in
                let (here, there, gate) = (stage.queue("here"), stage.queue("there"), Gate())
                let dependency = stage.operation(.normal, .passes(gate), .says("dependency ends"))
                let dependent = stage.operation(.normal, .says("dependent"))
                let another = stage.operation(.normal, .says("another"))
                try dependent.depend(on: dependency)
                try there.add(dependency)
                stage.say("ready: \(dependent.isReady)")
                try here.add([dependent, another])
                try await another.waitForEnd()
                gate.open()
                try await here.waitUntilAllAreFinished()
                let free = stage.operation()
                try free.depend(on: dependent)
                stage.say("ready: \(free.isReady)")
            }
        }

        @Test("For any outcome of the dependencies")
        func anyOutcome() async throws {
            try await expectBoth(toSay: ["succeeds", "fails", "dependent"]) { stage in
                let queue = stage.queue(isSuspended: true)
                let dependencies = [
                    stage.operation(.normal, .says("succeeds")),
                    stage.operation(.normal, .says("fails"), .fails),
                    stage.operation(.normal, .says("is cancelled")),
                ]
                let dependent = stage.operation(.veryHigh, .says("dependent"))
                for dependency in dependencies { try dependent.depend(on: dependency) }
                try queue.add([dependent] + dependencies)
                dependencies[2].cancel()
                queue.isSuspended = false
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("It waits for all of them, not for the first")
        func allOfThem() async throws {
            try await expectBoth(toSay: ["ready: false", "second ends", "dependent"]) { stage in
                let (queue, gate) = (stage.queue(width: 2), Gate())
                let first = stage.operation()
                let second = stage.operation(.normal, .passes(gate), .says("second ends"))
                let dependent = stage.operation(.normal, .says("dependent"))
                try dependent.depend(on: first)
                try dependent.depend(on: second)
                try queue.add([first, second, dependent])
                try await first.waitForEnd()
                await gate.waitForArrivals(1)
                try await stage.letTimePass()
                stage.say("ready: \(dependent.isReady)")
                gate.open()
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("A diamond, added from its end to its beginning")
        func diamond() async throws {
            try await expectBoth(toSay: ["top", "left", "right", "bottom"]) { stage in
                let queue = stage.queue()
                let top = stage.operation(.normal, .says("top"))
                let left = stage.operation(.high, .says("left"))
                let right = stage.operation(.low, .says("right"))
                let bottom = stage.operation(.veryLow, .says("bottom"))
                for side in [left, right] {
                    try side.depend(on: top)
                    try bottom.depend(on: side)
                }
                for operation in [bottom, right, left, top] { try queue.add(operation) }
                try await queue.waitUntilAllAreFinished()
            }
        }

        @Test("A dependency that is finished already holds nothing back")
        func finishedDependency() async throws {
            try await expectBoth(toSay: ["ready: true", "dependent"]) { stage in
                let queue = stage.queue()
                let dependency = stage.operation()
                try queue.add(dependency)
                try await dependency.waitForEnd()
                try await queue.waitUntilAllAreFinished()
                let dependent = stage.operation(.normal, .says("dependent"))
                try dependent.depend(on: dependency)
                stage.say("ready: \(dependent.isReady)")
                try queue.add(dependent)
                try await queue.waitUntilAllAreFinished()
            }
        }
    }
}
